/**
 * The names of a cluster in NATS: subjects, a stream, and a bucket of files (docs/cluster-format.md).
 *
 * @module
 */

export type Names = ReturnType<typeof namesOf>

export function namesOf(clusterId: string) {
  const prefix = `hickory.${clusterId}`
  return {
    /** What a machine tells of itself, and what all of them do. */
    report: (name: string) => `${prefix}.report.${name}`,
    reports: `${prefix}.report.*`,
    /** Messages of the log, for the stream, and the same once more when they are in it. */
    log: `${prefix}.log`,
    news: `${prefix}.news`,
    /** Questions to a machine, and those of operators, which may be fewer. */
    to: (name: string) => `${prefix}.to.${name}`,
    command: (name: string) => `${prefix}.command.${name}`,
    /** Answers to a question of a machine, or of a command. */
    re: (name: string, call: string) => `${prefix}.re.${name}.${call}`,
    /** Tasks of requests for a machine, of which one of its front threads takes each. */
    tasks: (name: string) => `${prefix}.tasks.${name}`,
    /** The same for one front thread: long ones, whose parts must come to the same one. */
    tasksOf: (name: string, frontIndex: number) => `${prefix}.tasks.${name}.${frontIndex}`,
    /** What has become of them. */
    found: (asker: string, call: string) => `${prefix}.found.${asker}.${call}`,
    stream: `hickory_${clusterId}_log`,
    /** The bucket. */
    files: `hickory_${clusterId}_files`,
  }
}
