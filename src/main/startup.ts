import { preparePartitions } from '../events/partitions.ts';
import { inBackground } from '../platform/db/deadline.ts';
import { migrate } from '../platform/db/migrate.ts';
import { findPoolExcess } from '../platform/db/state.ts';
import type { Container } from './container.ts';
import { createOwner, type Owner, type StartupWarning } from './first-run.ts';
import { notifyMigrated } from './lifecycle.ts';
import { missingCodecs } from './media-tools.ts';
import { maxConnections } from './processes/layout.ts';

/**
 * Prepares the database for the roles of this node, before any of them runs.
 *
 * @returns the owner, if this start created it.
 */
export async function prepareDatabase(container: Container): Promise<Owner | null> {
  const { sql, clock, config, modules } = container;
  await migrate(sql);
  // Before anything is appended: attaching today's partition races with inserts into the default one.
  await preparePartitions(sql, clock, config);
  await inBackground(() => notifyMigrated(modules));
  const owner = await createOwner(container);
  warnOfPrivateAddresses(container);
  return owner;
}

/** Finds the capabilities that this node lacks, for the banner. */
export async function findWarnings(container: Container): Promise<StartupWarning[]> {
  const notices = [
    await findWeakness(container),
    ...(await findEncoderLacks(container)),
    findRoomsLack(container),
    await findConnectionLack(container),
  ];
  return notices.filter((notice) => notice !== null);
}

function warnOfPrivateAddresses({ config, log }: Container): void {
  const { WEBHOOK_ALLOW_PRIVATE: webhooks, FETCH_ALLOW_PRIVATE: fetches } = config;
  if (webhooks.length === 0 && fetches.length === 0) return;
  log.warn({ webhooks, fetches }, 'requests to private addresses are allowed: for development only');
}

/**
 * Finds weaknesses of the sandbox around ffmpeg, if this process tree runs any; only the operator can fix
 * them.
 */
async function findWeakness({ config, guard, log }: Container): Promise<StartupWarning | null> {
  if (!config.ROLES.some((role) => role !== 'api')) return null;
  const { weakness } = await guard();
  if (weakness === null) return null;
  log.warn({ reason: weakness }, 'ffmpeg runs without a sandbox');
  return { name: 'No sandbox', text: `${weakness} (docs/guides/operations.md#sandbox)` };
}

/** Finds configured encoders that are unavailable, if this process tree encodes. */
async function findEncoderLacks({ config, checkTools, hardware, log }: Container): Promise<StartupWarning[]> {
  if (!config.ROLES.some((role) => role !== 'api')) return [];
  const info = await checkTools().catch(() => null);
  if (info === null) return [];
  const found = await hardware.find();
  const lacking = missingCodecs(config, info, found);
  const texts = found.refusals.map(({ what, reason }) => `${what}: using software encoding: ${reason}`);
  if (lacking.length > 0) {
    log.warn({ codecs: lacking }, 'this ffmpeg does not support all of VIDEO_CODECS');
    texts.push(
      `no encoder for ${lacking.join(' and ')} of VIDEO_CODECS (docs/guides/processing.md#hevc-and-av1)`,
    );
  }
  return texts.map((text) => ({ name: 'Encoders', text }));
}

/** Finds out whether the pools of all nodes together need too many connections. */
async function findConnectionLack({ config, sql, log }: Container): Promise<StartupWarning | null> {
  const reason = await findPoolExcess(sql, config.DATABASE_POOL, maxConnections(config));
  if (reason === null) return null;
  log.warn({ reason }, 'the database has too few connections');
  return { name: 'Connections', text: `${reason} (docs/guides/operations.md#database-outages)` };
}

/** Finds the reason for which rooms fall back to the mesh without being configured to. */
function findRoomsLack({ roomChoice: { lack }, log }: Container): StartupWarning | null {
  if (lack === null) return null;
  log.warn({ reason: lack }, 'rooms have no media server: they are peer-to-peer and limited to four people');
  const text = `at most four people: ${lack} (docs/guides/room-engines.md)`;
  return { name: 'Small rooms', text };
}
