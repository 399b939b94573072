/**
 * The growth of imports as an SVG image, which is readable on light and on dark pages.
 *
 * @module
 */
import { formatFigure } from '../harness/table.js'
import type { SizeResult } from './results.js'

interface Panel {
  readonly title: string
  readonly figureIn: (size: SizeResult) => number | undefined
}

const panels: readonly Panel[] = [
  {
    title: 'import of CSV, seconds',
    figureIn: ({ imports }) => {
      const csv = imports.find(({ format }) => format === 'csv')
      return csv === undefined ? undefined : csv.wallMs.median / 1000
    },
  },
  { title: 'start to first answer, seconds', figureIn: ({ startMs }) => startMs.median / 1000 },
  { title: 'resident memory, GB', figureIn: ({ residentBytes }) => residentBytes.median / 1e9 },
  { title: 'drawn polygon, microseconds', figureIn: ({ drawnMicros }) => drawnMicros },
]

const PANEL_WIDTH = 340
const PANEL_HEIGHT = 220
/** Around the drawing of a panel, for its texts. */
const MARGIN = { left: 36, right: 36, top: 44, bottom: 34 } as const

/** A panel for each figure, both axes logarithmic, each point with its value. */
export function plotScale(sizes: readonly SizeResult[], machine: string): string {
  if (sizes.length < 2) throw new Error('there is nothing to draw: measure several sizes (--scale)')
  const drawn = panels.map((panel, at) => {
    const x = (at % 2) * PANEL_WIDTH
    const y = Math.floor(at / 2) * PANEL_HEIGHT
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, sizes)}</g>`
  })
  const [width, height] = [2 * PANEL_WIDTH, 2 * PANEL_HEIGHT + 24]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>Imports of different numbers of recipients</title>
<style>${STYLE}</style>
${drawn.join('\n')}
<text class="note" x="${MARGIN.left}" y="${height - 8}">both axes logarithmic; ${escapeText(machine)}</text>
</svg>
`
}

// Without a background; the colours have contrast enough on white and on black.
const STYLE = [
  'text{font:12px sans-serif;fill:#6e7781}',
  '.title{font-weight:bold}',
  '.note{font-size:10px}',
  'path{fill:none;stroke:#2f81f7;stroke-width:2}',
  'circle{fill:#2f81f7}',
  'line{stroke:#6e7781;stroke-width:1}',
].join('')

function drawPanel({ title, figureIn }: Panel, sizes: readonly SizeResult[]): string {
  const measured = sizes.flatMap((size) => {
    const value = figureIn(size)
    return value === undefined ? [] : { recipientCount: size.recipientCount, value }
  })
  const across = logScale(
    sizes.map(({ recipientCount }) => recipientCount),
    MARGIN.left,
    PANEL_WIDTH - MARGIN.right,
  )
  const floor = PANEL_HEIGHT - MARGIN.bottom
  const up = logScale(
    measured.map(({ value }) => value),
    floor - 12,
    MARGIN.top,
  )
  const points = measured.map(({ recipientCount, value }) => ({
    x: across(recipientCount),
    y: up(value),
    label: formatFigure(value),
  }))
  return [
    text(MARGIN.left, 16, title, 'title'),
    `<line x1="${MARGIN.left}" y1="${floor}" x2="${PANEL_WIDTH - MARGIN.right}" y2="${floor}"/>`,
    ...sizes.map(({ recipientCount }) =>
      text(across(recipientCount), floor + 16, `${recipientCount / 1e6} M`, 'tick'),
    ),
    `<path d="${points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x} ${y}`).join('')}"/>`,
    ...points.map(({ x, y }) => `<circle cx="${x}" cy="${y}" r="3"/>`),
    ...points.map(({ x, y, label }) => text(x, y - 8, label, 'tick')),
  ].join('')
}

/** Places on a line, by the logarithm; the middle if all values are equal. */
function logScale(values: readonly number[], start: number, end: number) {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))]
  return (value: number) => {
    const share = high === low ? 0.5 : (Math.log(value) - low) / (high - low)
    return Math.round(start + share * (end - start))
  }
}

function text(x: number, y: number, content: string, kind: 'title' | 'tick'): string {
  const anchor = kind === 'title' ? '' : ' text-anchor="middle"'
  return `<text class="${kind}" x="${x}" y="${y}"${anchor}>${escapeText(content)}</text>`
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
