/**
 * The positions of KML: `lng,lat` or `lng,lat,altitude`, with white space between them and none in them.
 * Altitudes must be numbers, and are left out.
 *
 * @module
 */
import type { XmlElement } from '../../xml/read-xml.js'
import { decimalIn } from '../decimal.js'
import type { Position } from '../drawn.js'
import type { XmlReading } from '../file-feature.js'

/** @param element  `coordinates` */
export function readCoordinates(element: XmlElement, reading: XmlReading): Position[] {
  refuseElements(element, 'coordinates', reading)
  const positions: Position[] = []
  for (const [tuple] of element.text.matchAll(TUPLES)) {
    reading.countPosition()
    const numbers = tuple.split(',', LONGEST_TUPLE + 1)
    const position = positionOf(numbers)
    if (position === undefined) {
      const where = `has, in the position number ${positions.length + 1} of coordinates,`
      reading.fail(`${where} ${problemOf(tuple, numbers)}`, element)
    }
    positions.push(position)
  }
  return positions
}

/** @param element  `coord` of a track: the same with spaces instead of commas */
export function readCoord(element: XmlElement, reading: XmlReading): Position {
  refuseElements(element, 'coord', reading)
  reading.countPosition()
  const numbers = element.text.split(SPACES, LONGEST_TUPLE + 3).filter((part) => part !== '')
  return (
    positionOf(numbers) ??
    reading.fail(
      'has a track with a coord that is not two or three numbers: leave out what has no place, with its time',
      element,
    )
  )
}

/** Longitude, latitude, altitude. */
const LONGEST_TUPLE = 3

/** What XML calls white space. JavaScript's \s is more than that. */
const SPACES = /[ \t\r\n]+/
const TUPLES = /[^ \t\r\n]+/g

function positionOf(texts: readonly string[]): Position | undefined {
  if (texts.length < 2 || texts.length > LONGEST_TUPLE) return undefined
  const numbers = texts.map(decimalIn)
  const [lng, lat] = numbers
  if (lng === undefined || lat === undefined || numbers.includes(undefined)) return undefined
  return [lng, lat]
}

/** Words for what is wrong with a position, of which nothing may be shown. */
function problemOf(tuple: string, numbers: readonly string[]): string {
  if (tuple.startsWith(',') || tuple.endsWith(',')) {
    return 'a comma at its end or beginning: write no spaces after commas, as in "-1.5,47.2"'
  }
  if (numbers.length < 2)
    return 'one number: write longitude and latitude with a comma between them'
  if (numbers.length > LONGEST_TUPLE) {
    return 'more than three numbers: write a space between two positions'
  }
  return 'what is not a number'
}

function refuseElements(element: XmlElement, name: string, reading: XmlReading): void {
  const [inner] = element.children
  if (inner !== undefined) reading.fail(`has an element within ${name}`, inner)
}
