/**
 * Reads answers of all servers into one form, in which they can be compared.
 *
 * @module
 */

/** The recipients of all sources together, each as `phone lat lng`, coordinates in degrees. */
export interface AnswerRows {
  readonly count: number
  /** Empty where only counts were asked for. */
  readonly recipients: readonly string[]
}

export function readAnswer(json: string): AnswerRows {
  const { SourceRecords = [] } = JSON.parse(json) as { SourceRecords?: SourceRecord[] }
  const recipients: string[] = []
  let count = 0
  for (const { Count, Recipients = [] } of SourceRecords) {
    count += Count
    for (const { Number: phone, LatLng } of Recipients) {
      recipients.push(`${phone} ${LatLng.Lat} ${LatLng.Lng}`)
    }
  }
  return { count, recipients }
}

/** A list as CSV; its fields are not quoted. */
export function readCsvAnswer(csv: string): AnswerRows {
  const [header, ...rows] = csv.trimEnd().split('\r\n')
  if (header !== 'SourceId,Label,Number,Lat,Lng') throw new Error(`unknown columns: ${header}`)
  const recipients = rows.map((row) => {
    const [, , phone, lat, lng] = row.split(',')
    return `${phone} ${Number(lat)} ${Number(lng)}`
  })
  return { count: recipients.length, recipients }
}

/** Whether two lists hold the same recipients, in whatever order. */
export function sameRows(a: AnswerRows, b: AnswerRows): boolean {
  if (a.count !== b.count || a.recipients.length !== b.recipients.length) return false
  const sorted = b.recipients.toSorted()
  return a.recipients.toSorted().every((recipient, at) => recipient === sorted[at])
}

interface SourceRecord {
  readonly Count: number
  readonly Recipients?: readonly {
    readonly Number: string
    readonly LatLng: { readonly Lat: number; readonly Lng: number }
  }[]
}
