/**
 * The part of the table of metrics (table.ts) that is about a machine of a cluster. A service of one machine has none of
 * it.
 *
 * @module
 */

export const clusterReadings = {
  hickory_cluster_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which machine of which cluster this is.',
    labels: ['cluster', 'machine'],
  },
  hickory_cluster_connected: {
    type: 'gauge',
    help: 'Whether this machine is connected to NATS: 1 if so, otherwise 0.',
  },
  hickory_cluster_writable: {
    type: 'gauge',
    help: 'Whether this machine can write: the log answers, its server proves that it syncs, and the journal takes it: 1 if so, otherwise 0.',
  },
  hickory_cluster_fault: {
    type: 'gauge',
    help: 'Whether this machine cannot go on with the log, or as a member: 1 if so, otherwise 0.',
  },
  hickory_cluster_log_messages: {
    type: 'gauge',
    help: 'Messages in the log; not there while JetStream does not answer, as with the two that follow.',
  },
  hickory_cluster_log_missing_messages: {
    type: 'gauge',
    help: 'Messages that the leading server of the log lacks between its first and its last one.',
  },
  hickory_cluster_log_copies: {
    type: 'gauge',
    help: 'Servers of NATS that keep the log.',
  },
  hickory_cluster_level: {
    type: 'gauge',
    help: 'Whether this machine has all that was acknowledged until a moment ago, and can prove it: 1 if so, otherwise 0.',
  },
  hickory_cluster_level_seconds: {
    type: 'gauge',
    help: 'For how long this machine stays level if it hears no more from the log; 0 where it is not.',
  },
  hickory_cluster_lag_seconds: {
    type: 'gauge',
    help: 'For how long this machine has not been level; 0 while it is.',
  },
  hickory_cluster_draining: {
    type: 'gauge',
    help: 'Whether an operator has this machine be not ready: 1 if so, otherwise 0.',
  },
  hickory_cluster_written_sequence: {
    type: 'gauge',
    help: 'The last batch in the journal of this machine.',
  },
  hickory_cluster_answered_sequence: {
    type: 'gauge',
    help: 'The last batch by which this machine answers, with what is suppressed and who has keys.',
  },
  hickory_cluster_behind_batches: {
    type: 'gauge',
    help: 'Batches that a machine has in its journal, and by which this one does not answer yet.',
  },
  hickory_cluster_held_shards: {
    type: 'gauge',
    help: 'Shards of the snapshot that this machine holds in memory: all of them without --copies.',
  },
  hickory_cluster_held_recipients: {
    type: 'gauge',
    help: 'Recipients of the snapshot that this machine holds in memory: all of them without --copies.',
  },
  hickory_cluster_members: {
    type: 'gauge',
    help: 'Machines that are members of the cluster.',
  },
  hickory_cluster_level_members: {
    type: 'gauge',
    help: 'Members that are level, as far as this machine hears.',
  },
} as const
