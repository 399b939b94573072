/**
 * Facts of the store that every request needs, read once for all requests of a turn.
 *
 * @module
 */

/** Asks again in the next turn of the event loop, in which a change is seen early enough. */
export function onceATurn<Value>(ask: () => Value): () => Value {
  let known: { readonly value: Value } | undefined
  const forget = () => {
    known = undefined
  }
  return () => {
    if (known === undefined) {
      known = { value: ask() }
      setImmediate(forget)
    }
    return known.value
  }
}
