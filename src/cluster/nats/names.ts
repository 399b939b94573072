/**
 * The names of a cluster in NATS: subjects, a stream, and a bucket of files (docs/cluster-format.md).
 *
 * @module
 */

export interface Names {
  /** What a machine tells of itself. */
  report(name: string): string
  /** All of them. */
  readonly reports: string
  /** Messages of the log, for the stream. */
  readonly log: string
  /** The same once more, when they are in the stream. */
  readonly news: string
  /** Questions to a machine. */
  to(name: string): string
  /** Questions of operators to a machine, which may be fewer than those of other machines. */
  command(name: string): string
  /** Answers to a question of a machine, or of a command. */
  re(name: string, call: string): string
  /** Tasks of requests for a machine, of which one of its front threads takes each. */
  tasks(name: string): string
  /** The same for one front thread: long ones, whose parts must come to the same one. */
  tasksOf(name: string, frontIndex: number): string
  /** What has become of them. */
  found(asker: string, number: string): string
  readonly stream: string
  /** Of files. */
  readonly files: string
}

export function namesOf(clusterId: string): Names {
  const prefix = `hickory.${clusterId}`
  return {
    report: (name) => `${prefix}.report.${name}`,
    reports: `${prefix}.report.*`,
    log: `${prefix}.log`,
    news: `${prefix}.news`,
    to: (name) => `${prefix}.to.${name}`,
    command: (name) => `${prefix}.command.${name}`,
    re: (name, call) => `${prefix}.re.${name}.${call}`,
    tasks: (name) => `${prefix}.tasks.${name}`,
    tasksOf: (name, frontIndex) => `${prefix}.tasks.${name}.${frontIndex}`,
    found: (asker, number) => `${prefix}.found.${asker}.${number}`,
    stream: `hickory_${clusterId}_log`,
    files: `hickory_${clusterId}_files`,
  }
}
