/** Thrown for bytes that are not what they should be; says what was found and expected. @module */
export class FormatFault extends Error {}
