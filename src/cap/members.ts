/**
 * The members of one element of an alert. What CAP does not have there is a fault: a misspelt polygon must
 * not be left out. Elements of other namespaces, such as signatures, are none of CAP's business, unless they
 * have the name of one of its members.
 *
 * @module
 */
import type { XmlElement } from '../xml/read-xml.js'
import type { CapFaults } from './faults.js'
import type { AlertText } from './model.js'
import type { Occurrence } from './versions.js'

interface MemberElement {
  readonly element: XmlElement
  readonly path: string
}

export class CapMembers {
  readonly path: string
  readonly #faults: CapFaults
  readonly #found = new Map<string, XmlElement[]>()

  constructor(
    element: XmlElement,
    path: string,
    names: Readonly<Record<string, Occurrence>>,
    faults: CapFaults,
  ) {
    this.path = path
    this.#faults = faults
    if (element.text.trim() !== '') {
      faults.add('InvalidCap', path, `has text between its elements (line ${element.line})`)
    }
    for (const child of element.children) this.#take(child, element.namespace, names)
    for (const [name, occurrence] of Object.entries(names)) {
      const count = this.#found.get(name)?.length ?? 0
      if (occurrence === 'one' && count === 0) faults.add('InvalidCap', path, `has no ${name}`)
      if (occurrence !== 'many' && count > 1) {
        faults.add('InvalidCap', path, `has ${name} more than once`)
      }
    }
  }

  #take(child: XmlElement, namespace: string, names: Readonly<Record<string, Occurrence>>): void {
    const isKnown = Object.hasOwn(names, child.name)
    if (child.namespace !== namespace) {
      if (!isKnown) return
      const problem = `has ${child.name} in another namespace (line ${child.line})`
      this.#faults.add('InvalidCap', this.path, `${problem}: it would be left out`)
    } else if (!isKnown) {
      const problem = `has an element that CAP does not have there (line ${child.line})`
      this.#faults.add('InvalidCap', this.path, `${problem}: correct its name, or leave it out`)
    } else {
      const same = this.#found.get(child.name)
      if (same === undefined) this.#found.set(child.name, [child])
      else same.push(child)
    }
  }

  /** Elements that have members of their own. */
  elements(name: string): readonly MemberElement[] {
    const elements = this.#found.get(name) ?? []
    return elements.map((element, i) => ({ element, path: `${this.path}.${name}[${i}]` }))
  }

  texts(name: string): readonly AlertText[] {
    return this.elements(name).map(({ element, path }) => ({
      text: this.#textOf(element, path),
      path,
    }))
  }

  /** Without the space around it; undefined where it is not there. */
  text(name: string): string | undefined {
    const element = this.#found.get(name)?.[0]
    return element === undefined ? undefined : this.#textOf(element, `${this.path}.${name}`)
  }

  /** Of a member that must be there, and must say something. */
  required(name: string): string {
    const text = this.text(name)
    if (text === '') this.#faults.add('InvalidCap', `${this.path}.${name}`, 'is empty')
    return text ?? ''
  }

  /** One of these values; undefined where the member is not there, and what it has where that is a fault. */
  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    this.#check(text, values, `${this.path}.${name}`)
    return text as Value
  }

  someOf(name: string, values: readonly string[]): readonly string[] {
    return this.texts(name).map(({ text, path }) => {
      this.#check(text, values, path)
      return text
    })
  }

  #check(text: string, values: readonly string[], path: string): void {
    if (values.includes(text)) return
    this.#faults.add('InvalidCap', path, `must be one of ${values.join(', ')}`)
  }

  /** Text beside elements would be read without them. */
  #textOf({ children, text, line }: XmlElement, path: string): string {
    if (children.length > 0) {
      this.#faults.add('InvalidCap', path, `has elements where text is expected (line ${line})`)
    }
    return text.trim()
  }
}
