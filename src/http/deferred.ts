/**
 * A promise that is settled from outside (Promise.withResolvers, which Node.js 20 lacks).
 *
 * @module
 */

export class Deferred<Value> {
  readonly promise: Promise<Value>
  resolve!: (value: Value) => void
  reject!: (reason: Error) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
