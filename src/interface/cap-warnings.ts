/**
 * What may be wrong with an alert that was answered all the same.
 *
 * @module
 */

/** What each code says. */
export const capWarningCodes = {
  PolygonAndGeocodes:
    'an area has a polygon or a circle and geocodes, which usually cover far more; all are selected',
  GeocodesLeftOut: 'an area has a polygon or a circle, and its geocodes are left out as asked',
  SeveralGeocodeSystems:
    'an area has geocodes of several systems, of which the areas differ; all are selected',
  AltitudeIgnored: 'an area has an altitude; who is in it is selected at any height',
  CirclePoint: 'a circle has the radius 0, and selects who is exactly at its centre',
  EmptyShape: 'a polygon or a circle is empty, and the area has more beside it',
  InfoExpired: 'a part of the alert has expired, and is selected all the same',
  InfoOld: 'a part of the alert has no expires, and is from more than a day ago',
  InfoAllClear: 'a part of the alert is an all-clear: its responseType is AllClear',
  InfoPast:
    'a part of the alert says that it is over: its urgency is Past, or its location status is ended',
  InfoUnlikely: 'a part of the alert is not expected to happen: its certainty is Unlikely',
  CapNotActual: 'the alert is not an actual one: its status is another',
  CapNotPublic: 'the alert is not for the public: its scope is Restricted or Private',
  CapMessageType: 'the message is a Cancel, an Ack or an Error',
  SignatureNotChecked: 'the alert is signed, and nobody has checked the signature',
  CapForm: 'a time is written in another way than CAP 1.2 has it',
  ReferencesUnread: 'the references of the alert are not in the form of CAP',
  ProfileAdvice: 'the alert does not do what a profile recommends',
} as const
