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
  hickory_cluster_writing: {
    type: 'gauge',
    help: 'Whether this machine writes the journal: 1 if so, otherwise 0.',
  },
  hickory_cluster_writer_known: {
    type: 'gauge',
    help: 'Whether this machine knows of one that writes, which may be itself: 1 if so, otherwise 0.',
  },
  hickory_cluster_epoch: {
    type: 'gauge',
    help: 'The epoch, which grows with each election of a writer.',
  },
  hickory_cluster_role_changes_total: {
    type: 'counter',
    help: 'How often this machine has begun to write, or ceased to.',
  },
  hickory_cluster_level: {
    type: 'gauge',
    help: 'Whether this machine has all that was acknowledged until a moment ago, and can prove it: 1 if so, otherwise 0.',
  },
  hickory_cluster_level_seconds: {
    type: 'gauge',
    help: 'For how long this machine stays level if it hears of nobody any more; 0 where it is not.',
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
    help: 'The last batch in the journal of this machine, whether or not it is committed.',
  },
  hickory_cluster_committed_sequence: {
    type: 'gauge',
    help: 'The last batch that is on the disks of enough members, as far as this machine knows.',
  },
  hickory_cluster_answered_sequence: {
    type: 'gauge',
    help: 'The last batch by which this machine answers, with what is suppressed and who has keys.',
  },
  hickory_cluster_behind_batches: {
    type: 'gauge',
    help: 'Batches that are committed, as far as the machines tell, and by which this one does not answer yet.',
  },
  hickory_cluster_stream_sequence: {
    type: 'gauge',
    help: 'Up to which batch the stream of NATS has what is committed; the machine that writes tells it.',
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
    help: 'Machines whose disks count.',
  },
  hickory_cluster_level_members: {
    type: 'gauge',
    help: 'Members that are level, as far as this machine hears.',
  },
} as const
