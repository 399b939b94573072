/**
 * The part of the table of metrics (table.ts) that is about what changes while a snapshot is served.
 *
 * @module
 */

export const liveReadings = {
  hickory_suppression_version: {
    type: 'gauge',
    help: 'Version of the suppression lists in the store.',
  },
  hickory_suppression_taken_version: {
    type: 'gauge',
    help: 'Version of the suppression lists by which this service answers.',
  },
  hickory_suppressed_numbers: {
    type: 'gauge',
    help: 'Numbers on all suppression lists.',
  },
  hickory_journal_sequence: {
    type: 'gauge',
    help: 'The last batch of the journal of changes.',
  },
  hickory_sequence: {
    type: 'gauge',
    help: 'The last batch of the journal of changes that is in answers.',
  },
  hickory_changed_recipients: {
    type: 'gauge',
    help: 'Recipients that came to the served snapshot or went from it since it was made.',
  },
} as const
