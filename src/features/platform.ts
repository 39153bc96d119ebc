import type { EventCatalogue } from '../events/catalogue.ts';
import type { Events } from '../events/index.ts';
import type { Jobs } from '../jobs/queue.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CursorCodec } from '../kernel/cursor.ts';
import type { Release } from '../kernel/release.ts';
import type { BlobStore } from '../media/contract/index.ts';
import type { Bus } from '../platform/bus.ts';
import type { Config } from '../platform/config.ts';
import type { Counter, CounterFactory } from '../platform/counters.ts';
import type { Idempotency } from '../platform/db/idempotency.ts';
import type { DatabaseHandle } from '../platform/db/index.ts';
import type { DiskSpace } from '../platform/disk.ts';
import type { DurableWindows } from '../platform/durable-windows.ts';
import type { Images } from '../platform/images.ts';
import type { Leases } from '../platform/leases.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Outbound } from '../platform/outbound/index.ts';
import type { Passwords } from '../platform/passwords.ts';
import type { ProcessReadiness } from '../platform/readiness.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { UsageEvents } from './insight/usage-events/index.ts';

/** Services that every feature may name in the dependencies of its module. */
export interface Platform extends Pick<DatabaseHandle, 'db' | 'sql'> {
  config: Config;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  readiness: ProcessReadiness;
  bus: Bus;
  secrets: Secrets;
  counters: CounterFactory;
  /** Stores the counts of long windows; null where there is Redis. */
  durableWindows: DurableWindows | null;
  /** All requests of each key. */
  requestCounts: { perMinute: Counter; perDay: Counter };
  /** Counts limited actions of clients within a window in seconds, or within the UTC day. */
  caps(windowSec: number | 'day'): Counter;
  cursors: CursorCodec;
  leases: Leases;
  idempotency: Idempotency;
  /** HTTP client for receivers of webhooks. */
  outbound: Outbound;
  /** HTTP client for files and proofs at user-supplied URLs. */
  fetcher: Outbound;
  store: BlobStore;
  /** Free space on the disk of DATA_DIR. */
  disk: DiskSpace;
  images: Images;
  passwords: Passwords;
  /** Releases of the API. */
  releases: readonly Release[];
  /** Working folder of the jobs of this process, on the disk of the store. */
  scratchDir: string;
  /** Host names of the platform. */
  platformHosts: readonly string[];
  /** Events of all features. */
  catalogue: EventCatalogue;
  events: Events;
  jobs: Jobs;
  /** Usage events; closed after all modules. */
  facts: UsageEvents;
}
