/**
 * Faults in how requests are read, planned and answered: selection, outlines, operations, named areas.
 *
 * @module
 */
import type { Mutant } from '../mutant.js'

export const ofSelection: readonly Mutant[] = [
  {
    name: 'a request within a boundary touches no shard',
    file: 'src/selection/plan.ts',
    find: 'if (mask !== null && isAllBeyond(mask, index)) continue',
    replace: 'if (mask !== null) continue',
    hints: ['test/selection/beyond.test.ts'],
  },
  {
    name: 'the last group of shards has no task',
    file: 'src/selection/plan.ts',
    find: 'taskOf(groups.filter((_, i) => i % taskCount === task).flat()),',
    replace: 'taskOf(groups.slice(0, -1).filter((_, i) => i % taskCount === task).flat()),',
  },
  {
    name: 'the nearest that are excluded are looked for in the area alone',
    file: 'src/selection/plan.ts',
    find: '(each.isExcluded || !isLimited))',
    replace: '!isLimited)',
  },
  {
    name: 'the count of the last shard of a task is forgotten',
    file: 'src/selection/merge.ts',
    find: 'for (let i = 0; i < shardIndexes.length; i++) {',
    replace: 'for (let i = 0; i < Math.max(1, shardIndexes.length - 1); i++) {',
  },
  {
    name: 'the seal of a cursor is not compared',
    file: 'src/selection/cursor.ts',
    find: "if (!partOf(bytes, 'seal').equals(sealOf(basis.query, bytes))) {",
    replace: "if (partOf(bytes, 'seal').length === 0) {",
  },
  {
    name: 'a cursor outlives its snapshot',
    file: 'src/selection/cursor.ts',
    find: "if (!partOf(bytes, 'state').equals(stateOf(basis))) {",
    replace: "if (partOf(bytes, 'state').length === 0) {",
  },
  {
    name: 'the last recipient of a page is given again on the next one',
    file: 'src/selection/page.ts',
    find: 'cut[0] = recipient\n',
    replace: 'cut[0] = recipient - 1\n',
  },
  {
    name: 'whoever came before is added to a mask again',
    file: 'src/selection/masks.ts',
    find: 'const start = this.#comeCounts[at] ?? 0',
    replace: 'const start = 0',
  },
  {
    name: 'a boundary of two areas is any of them',
    file: 'src/selection/masks.ts',
    find: '(left, right) => left.map((each, shard) => commonRuns(each, right[shard])),',
    replace: '(left, right) => left.map((each, shard) => (each.length > 0 ? each : right[shard])),',
  },
  {
    name: 'a tile beyond the map is taken',
    file: 'src/selection/grid-request.ts',
    find: 'x < 2 ** zoom && y < 2 ** zoom',
    replace: 'x <= 2 ** zoom && y < 2 ** zoom',
  },
  {
    name: 'the same member written in two letter cases is taken once',
    file: 'src/interface/bind.ts',
    find: 'else if (name !== undefined) refuse(`is given twice',
    replace: 'else if (name !== undefined && key === other) refuse(`is given twice',
  },
  {
    name: 'a text that begins like a number is one',
    file: 'src/interface/quoted.ts',
    find: 'NUMBER.test(value) ? Number(value) : undefined',
    replace: 'NUMBER.test(value) ? Number(value) : Number.parseFloat(value) || undefined',
  },
  {
    name: 'an outline that is full instead of empty passes its check',
    file: 'src/outline/check.ts',
    find: 'return !samples.some(isWrong)',
    replace: 'return !samples.every(isWrong)',
  },
  {
    name: 'the check of an outline takes nothing away for exclusions',
    file: 'src/outline/check.ts',
    find: 'return both(a, b === undefined ? undefined : !b)',
    replace: 'return both(a, b === undefined ? undefined : true)',
  },
  {
    name: 'live counts from before a suppression are served',
    file: 'src/operations/live-counts.ts',
    find: 'return suppressionVersion >= version',
    replace: 'return suppressionVersion >= version - 1',
  },
  {
    name: 'live counts of another boundary are served',
    file: 'src/operations/live-counts.ts',
    find: 'if (counts === undefined || counts.boundaryKey !== basis.boundaryKey) return false',
    replace: 'if (counts === undefined) return false',
  },
  {
    name: 'POST replaces a context that is there',
    file: 'src/operations/contexts.ts',
    find: 'PostMapContextRequest: write(false),',
    replace: 'PostMapContextRequest: write(true),',
  },
  {
    name: 'a context takes the place of an alert',
    file: 'src/operations/contexts.ts',
    find: 'if (id === undefined || !isAlert(store, id)) return',
    replace: 'if (id !== undefined || !isAlert(store, Id)) return',
    hints: ['test/contract/one-service.test.ts'],
  },
  {
    name: 'a Skip below zero is taken',
    file: 'src/interface/quoted.ts',
    find: 'number >= minimum && number <= maximum',
    replace: 'number <= maximum',
  },
  {
    name: 'the layer of a name is looked up as it is written',
    file: 'src/gazetteer/names.ts',
    find: 'isAreaKey(key) ? { prefix: prefix.toLowerCase(), key }',
    replace: 'isAreaKey(key) ? { prefix, key }',
  },
  {
    name: 'areas of which only the box holds a place are found there',
    file: 'src/gazetteer/gazetteer.ts',
    find: 'return area !== undefined && contains(area.polygons, lng, lat)',
    replace: 'return area !== undefined || contains([] as never, lng, lat)',
  },
  {
    name: 'a page of areas begins with the last one of the page before',
    file: 'src/gazetteer/gazetteer.ts',
    find: 'return { rank, position: position + 1 }',
    replace: 'return { rank, position }',
  },
]
