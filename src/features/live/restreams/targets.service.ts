import { badRequest, notFound } from '../../../kernel/errors.ts';
import { type PushUrl, parsePushUrl } from '../../../kernel/push-url.ts';
import type { RestreamTargetPlatform } from '../../../platform/db/tables.generated.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import { changeLocked, notifyChanged, type RestreamDeps } from './locked.ts';
import { logRestream } from './log.ts';
import type { RestreamRow, TargetChange, TargetRow } from './repository.ts';
import * as repository from './repository.ts';
import { type Changes, emitUpdated } from './restream-events.ts';
import { lastFour, parseTarget, UNCHANGED_KEY } from './rules.ts';
import type { TargetIn, TargetPatch } from './schemas.ts';
import {
  assertTargetQuota,
  newTarget,
  passphraseContext,
  validateTarget,
  validateTargetUrl,
} from './target-validation.ts';
import { type Change, resetTarget } from './transitions.ts';

/** Targets of a restream. An ID of another restream or workspace gets NOT_FOUND. */
export interface RestreamTargets {
  /** @throws {AppError} BAD_REQUEST, field `url` or `streamKey`; QUOTA_EXCEEDED. */
  add(workspaceId: string, restreamId: string, input: TargetIn): Promise<TargetRow>;
  /**
   * Updates a target, even while it is sent to: another URL or key restarts the push.
   *
   * @throws {AppError} BAD_REQUEST, field `streamKey` too when the URL leads elsewhere without a key.
   */
  update(workspaceId: string, restreamId: string, id: string, input: TargetPatch): Promise<TargetRow>;
  remove(workspaceId: string, restreamId: string, id: string): Promise<void>;
  /** Retries immediately, including a FATAL target. */
  retry(workspaceId: string, restreamId: string, id: string): Promise<TargetRow>;
}

const FRESH: TargetChange = {
  state: 'IDLE',
  error_severity: null,
  error_message: null,
  retry_count: 0,
  next_retry_at: null,
  connected_at: null,
  bitrate_kbps: null,
};

export function createRestreamTargets(deps: RestreamDeps): RestreamTargets {
  const { events, clock, secrets } = deps;
  const locked = async (
    workspaceId: string,
    restreamId: string,
    id: string,
    work: LockedTarget,
  ): Promise<TargetRow | undefined> => {
    const whole = await changeLocked(deps, workspaceId, restreamId, async (change, row) => {
      const target = await repository.lockTarget(change.tx, restreamId, id);
      if (target === undefined) throw notFound();
      await emitTargets(change, row, await work(change, target, workspaceId));
    });
    return whole.targets.find((target) => target.id === id);
  };
  const found = (target: TargetRow | undefined): TargetRow => {
    if (target === undefined) throw notFound();
    return target;
  };
  return {
    async add(workspaceId, restreamId, input) {
      if ((await repository.findRestream(deps.db, workspaceId, restreamId)) === undefined) throw notFound();
      const checked = await validateTarget(deps, input);
      const { added, streamId } = await events.transaction(async (tx, append) => {
        const { plan } = await lockWorkspace(tx, workspaceId);
        const row = await repository.lockRestream(tx, workspaceId, restreamId);
        if (row === undefined) throw notFound();
        await assertTargetQuota(tx, workspaceId, plan, 1);
        const now = clock.now();
        const target = newTarget({ secrets }, restreamId, checked, now);
        await repository.insertTargets(tx, [target]);
        await emitTargets({ tx, append, now }, row, {
          [`targets.${target.id}`]: { from: null, to: target.name },
        });
        const added = await repository.lockTarget(tx, restreamId, target.id);
        return { added, streamId: row.stream_id };
      });
      notifyChanged(deps, restreamId, streamId);
      return found(added);
    },
    async update(workspaceId, restreamId, id, input) {
      const before = await repository.findTarget(deps.db, workspaceId, restreamId, id);
      if (before === undefined) throw notFound();
      const { url, address } = nextTarget(deps, before, input);
      // Checked before the lock, because resolving a name may take seconds. Everything else is checked again
      // under the lock.
      if (url !== before.url) await validateTargetUrl(deps, address);
      return found(
        await locked(workspaceId, restreamId, id, (change, target) =>
          applyChange(deps, change, { workspaceId, target, input }),
        ),
      );
    },
    async remove(workspaceId, restreamId, id) {
      await locked(workspaceId, restreamId, id, async (change, target) => {
        await resetTarget(change, workspaceId, target, null);
        await repository.deleteTarget(change.tx, id);
        return { [`targets.${id}`]: { from: target.name, to: null } };
      });
    },
    retry: async (workspaceId, restreamId, id) =>
      found(
        await locked(workspaceId, restreamId, id, async ({ tx }, target) => {
          if (target.state === 'BROADCASTING') return {};
          await repository.updateTarget(tx, id, { ...FRESH, revision: target.revision + 1 });
          return {};
        }),
      ),
  };
}

/** Work under the locks of the restream and the target. @returns the changed fields. */
type LockedTarget = (change: Change, target: TargetRow, workspaceId: string) => Promise<Changes>;

/** Emits the change of a target as a change of its restream. */
async function emitTargets(change: Change, row: RestreamRow, changes: Changes): Promise<void> {
  if (Object.keys(changes).length > 0) {
    const updated = await repository.updateRestream(change.tx, row.id, { updated_at: change.now });
    await emitUpdated(change, updated, changes);
  }
  await logRestream(change.tx, row, change.now);
}

/** Settings of a target after a change. */
interface NextTarget {
  platform: RestreamTargetPlatform;
  url: string;
  address: PushUrl;
  /** Undefined leaves the stored key unchanged. */
  streamKey: string | null | undefined;
  passphrase: string | null | undefined;
}

/** @throws {AppError} BAD_REQUEST when the change is invalid for this row. */
function nextTarget(
  { secrets }: Pick<RestreamDeps, 'secrets'>,
  row: TargetRow,
  input: TargetPatch,
): NextTarget {
  const platform = input.platform ?? row.platform;
  const given = input.url ?? (platform === row.platform ? row.url : undefined);
  const streamKey = input.streamKey === undefined ? storedKey(secrets, row, platform) : input.streamKey;
  // A stored passphrase is retained only while the URL is an SRT URL.
  const { url, address } = parseTarget({ platform, url: given, streamKey, passphrase: input.passphrase });
  const passphrase = address.scheme === 'srt' ? input.passphrase : null;
  if (!isSameServer(row.url, address)) {
    if (passphrase === undefined && row.passphrase !== null) {
      throw badRequest(
        'passphrase',
        'Provide the passphrase too: the stored one is not used with a different server.',
      );
    }
    if (input.streamKey === undefined && row.stream_key !== null) {
      throw badRequest(
        'streamKey',
        'Provide the stream key too: the stored one is not sent to a different server.',
      );
    }
  }
  return { platform, url, address, streamKey: input.streamKey, passphrase };
}

function isSameServer(url: string, address: PushUrl): boolean {
  const old = parsePushUrl(url);
  return typeof old !== 'string' && old.host === address.host && old.port === address.port;
}

/**
 * Decrypts the stored key only for a new platform: for the current platform its form was checked when it was
 * set.
 */
function storedKey(secrets: Secrets, row: TargetRow, platform: RestreamTargetPlatform) {
  if (row.stream_key === null) return null;
  if (platform === row.platform) return UNCHANGED_KEY;
  try {
    return secrets.decrypt(row.stream_key, row.id);
  } catch {
    return UNCHANGED_KEY;
  }
}

async function applyChange(
  { secrets }: RestreamDeps,
  change: Change,
  { workspaceId, target, input }: { workspaceId: string; target: TargetRow; input: TargetPatch },
): Promise<Changes> {
  const { streamKey, passphrase, platform, url } = nextTarget({ secrets }, target, input);
  const name = input.name ?? target.name;
  const enabled = input.enabled ?? target.enabled;
  const hasOtherKey = isOther(streamKey, target.stream_key);
  const hasOtherPassphrase = isOther(passphrase, target.passphrase);
  const isAnew = url !== target.url || platform !== target.platform || hasOtherKey || hasOtherPassphrase;
  const isTouched = isAnew || enabled !== target.enabled;
  if (isTouched) await resetTarget(change, workspaceId, target, null);
  const key =
    streamKey === undefined
      ? {}
      : {
          stream_key: streamKey === null ? null : secrets.encrypt(streamKey, target.id),
          stream_key_last4: lastFour(streamKey),
        };
  const secret = passphrase && secrets.encrypt(passphrase, passphraseContext(target.id));
  const updated = await repository.updateTarget(change.tx, target.id, {
    ...(isTouched ? { ...FRESH, revision: target.revision + 1 } : {}),
    ...key,
    ...(secret === undefined ? {} : { passphrase: secret || null }),
    name,
    platform,
    url,
    enabled,
    updated_at: change.now,
  });
  return changesOf(target, updated, { streamKey: hasOtherKey, hasPassphrase: hasOtherPassphrase });
}

/**
 * Reports whether a secret changes. A secret in the request counts as changed: it is not compared with the
 * stored one.
 */
function isOther(given: string | null | undefined, kept: Uint8Array | null): boolean {
  return given !== undefined && (given !== null || kept !== null);
}

/** @param written the written secrets, which may look unchanged. */
function changesOf(
  before: TargetRow,
  after: TargetRow,
  written: { streamKey: boolean; hasPassphrase: boolean },
): Changes {
  const isWritten = new Map(Object.entries(written));
  const old = new Map(shown(before));
  return Object.fromEntries(
    shown(after)
      .filter(([field, to]) => isWritten.get(field) ?? old.get(field) !== to)
      .map(([field, to]) => [`targets.${after.id}.${field}`, { from: old.get(field), to }]),
  );
}

function shown(row: TargetRow): [string, unknown][] {
  const { name, platform, url, enabled, stream_key_last4: streamKeyLast4 } = row;
  const streamKey = row.stream_key === null ? null : `***${streamKeyLast4 ?? ''}`;
  const hasPassphrase = row.passphrase !== null;
  return Object.entries({ name, platform, url, enabled, streamKeyLast4, streamKey, hasPassphrase });
}
