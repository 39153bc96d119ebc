import Type, { type Static } from 'typebox';

const Amount = Type.Number({ minimum: 0 });
const Share = Type.Number({ minimum: 0, maximum: 1 });
const Count = Type.Integer({ minimum: 1 });

/** Cost of a unit of work. */
const Cost = Type.Object({
  /** Processor time of the program and the programs it starts. */
  programMs: Amount,
  databaseMs: Amount,
  commits: Amount,
  walBytes: Amount,
  /** Growth of the database. */
  storedBytes: Amount,
  /** Memory while the unit lasts. */
  memoryMb: Amount,
});
export type Cost = Static<typeof Cost>;

/** Costs that `bench/costs.ts` has measured. */
export const Costs = Type.Object({
  machine: Type.String(),
  measuredOn: Type.String(),
  /** Cost of a node without work. */
  idle: Type.Object({
    programCores: Amount,
    databaseCores: Amount,
    commitsPerSec: Amount,
    walBytesPerSec: Amount,
  }),
  /** Memory of a process without work. */
  processMb: Type.Object({ api: Amount, media: Amount, worker: Amount }),
  work: Type.Object({
    read: Cost,
    write: Cost,
    livePlaylist: Cost,
    segment: Cost,
    /** A second of a broadcast of 1080p60 without further renditions. */
    broadcast: Cost,
    /** The same with two renditions that are encoded here. */
    broadcastWithRungs: Cost,
    /** A second of one destination. */
    restream: Cost,
    /** A report of one player. */
    viewerFacts: Cost,
    /** A minute of uploaded video. */
    videoMinute: Cost,
    delivery: Cost,
  }),
});
export type Costs = Static<typeof Costs>;
export type Work = keyof Costs['work'];

const Nodes = Type.Object({
  nodes: Count,
  cores: Count,
  memoryGb: Amount,
  networkGbit: Amount,
  /** Processes of the role on each node. */
  processes: Count,
});

export const Layout = Type.Object({
  api: Nodes,
  media: Nodes,
  worker: Nodes,
  /** `DATABASE_POOL` of every process. */
  pool: Count,
  /** Deliveries that a worker process sends at once. */
  deliverySlots: Count,
  database: Type.Object({
    cores: Count,
    commitsPerSec: Amount,
    maxConnections: Count,
    storageTb: Amount,
    /** Days for which usage events are kept. */
    retentionDays: Amount,
  }),
});
export type Layout = Static<typeof Layout>;
export type Role = 'api' | 'media' | 'worker';

export const Profile = Type.Object({
  /** Share of the peak in each hour of the day. */
  day: Type.Array(Share, { minItems: 24, maxItems: 24 }),
  peak: Type.Object({
    broadcasts: Amount,
    broadcastsWithRungs: Amount,
    restreams: Amount,
    viewers: Amount,
    readsPerSec: Amount,
    writesPerSec: Amount,
    deliveriesPerSec: Amount,
    uploadedMinutesPerHour: Amount,
  }),
  viewers: Type.Object({
    /** Exponent of Zipf's law: 0 spreads viewers evenly over the broadcasts. */
    zipfExponent: Amount,
    /** Share of the viewers that a CDN or nginx serves. */
    cdnShare: Share,
    segmentSec: Type.Number({ exclusiveMinimum: 0 }),
  }),
  /** Bit rate of a broadcast. */
  bitsPerSec: Amount,
  recordedShare: Share,
  /** Time in which receivers of webhooks respond. */
  receiverLatencyMs: Amount,
  layout: Layout,
});
export type Profile = Static<typeof Profile>;
