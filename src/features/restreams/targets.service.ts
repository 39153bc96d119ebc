import { badRequest, notFound } from '../../kernel/errors.ts';
import { parsePushAddress } from '../../kernel/push-address.ts';
import type { RestreamTargetPlatform } from '../../platform/db/tables.generated.ts';
import { lockWorkspace } from '../../platform/db/workspace.ts';
import { type Changes, emitUpdated } from './emit.ts';
import { admitTargets, checkedTarget, checkPlace, newTarget, passphraseContext } from './intake.ts';
import { changeLocked, type RestreamDeps, tellChanged } from './locked.ts';
import { logRestream } from './log.ts';
import type { TargetChange, TargetRow } from './repository.ts';
import * as repository from './repository.ts';
import { lastFour, readTarget } from './rules.ts';
import type { TargetIn, TargetPatch } from './schemas.ts';
import { type Change, rest } from './transitions.ts';

/** The targets of a restream. An id of another restream or workspace is NOT_FOUND. */
export interface RestreamTargets {
  /** @throws {AppError} BAD_REQUEST, field `url` or `streamKey`; QUOTA_EXCEEDED. */
  add(workspaceId: string, restreamId: string, input: TargetIn): Promise<TargetRow>;
  /**
   * Also while it is sent to: another address or key begins anew.
   *
   * @throws {AppError} BAD_REQUEST, field `streamKey` too when the address leads elsewhere and no key is given.
   */
  update(workspaceId: string, restreamId: string, id: string, input: TargetPatch): Promise<TargetRow>;
  remove(workspaceId: string, restreamId: string, id: string): Promise<void>;
  /** Tries at once, and what was FATAL once more. */
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
      await emitUpdated(change, row, await work(change, target, workspaceId));
      await logRestream(change.tx, row, change.now);
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
      const checked = await checkedTarget(deps, input);
      const { added, streamId } = await events.transaction(async (tx, append) => {
        const { plan } = await lockWorkspace(tx, workspaceId);
        const row = await repository.lockRestream(tx, workspaceId, restreamId);
        if (row === undefined) throw notFound();
        await admitTargets(tx, workspaceId, plan, 1);
        const now = clock.now();
        const target = newTarget({ secrets }, restreamId, checked, now);
        await repository.insertTargets(tx, [target]);
        const updated = await repository.updateRestream(tx, restreamId, { updated_at: now });
        await emitUpdated({ tx, append }, updated, {
          [`targets.${target.id}`]: { from: null, to: target.name },
        });
        await logRestream(tx, updated, now);
        const added = await repository.lockTarget(tx, restreamId, target.id);
        return { added, streamId: row.stream_id };
      });
      tellChanged(deps, restreamId, streamId);
      return found(added);
    },
    async update(workspaceId, restreamId, id, input) {
      const before = await repository.findTarget(deps.db, workspaceId, restreamId, id);
      if (before === undefined) throw notFound();
      const next = await checkedChange(deps, before, input);
      return found(
        await locked(workspaceId, restreamId, id, (change, target) =>
          applyChange(deps, change, target, next, workspaceId),
        ),
      );
    },
    async remove(workspaceId, restreamId, id) {
      await locked(workspaceId, restreamId, id, async (change, target) => {
        await rest(change, workspaceId, target, null);
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

/** Under the locks of the restream and the target. @returns what it has changed. */
type LockedTarget = (change: Change, target: TargetRow, workspaceId: string) => Promise<Changes>;

/** What a target is to be, checked before its row is locked. */
interface NextTarget {
  platform: RestreamTargetPlatform;
  url: string;
  /** undefined keeps the one that is there. */
  streamKey: string | null | undefined;
  passphrase: string | null | undefined;
  name: string | undefined;
  enabled: boolean | undefined;
}

async function checkedChange(deps: RestreamDeps, before: TargetRow, input: TargetPatch): Promise<NextTarget> {
  const platform = input.platform ?? before.platform;
  const url = input.url ?? (platform === before.platform ? before.url : undefined);
  const stored = before.stream_key === null ? null : deps.secrets.decrypt(before.stream_key, before.id);
  const streamKey = input.streamKey === undefined ? stored : input.streamKey;
  // What is kept goes where the address stays one of SRT.
  const { url: next, address } = readTarget({ platform, url, streamKey, passphrase: input.passphrase });
  const passphrase = address.scheme === 'srt' ? input.passphrase : null;
  if (next !== before.url) {
    const old = parsePushAddress(before.url);
    const isSame = typeof old !== 'string' && old.host === address.host && old.port === address.port;
    if (!isSame && passphrase === undefined && before.passphrase !== null) {
      throw badRequest(
        'passphrase',
        'Give the passphrase too: the one that is kept is not used with another server.',
      );
    }
    if (!isSame && input.streamKey === undefined && stored !== null) {
      throw badRequest(
        'streamKey',
        'Give the stream key too: the one that is kept is not sent to another server.',
      );
    }
    await checkPlace(deps, address);
  }
  const { streamKey: key, name, enabled } = input;
  return { platform, url: next, streamKey: key, passphrase, name, enabled };
}

async function applyChange(
  { secrets }: RestreamDeps,
  change: Change,
  target: TargetRow,
  next: NextTarget,
  workspaceId: string,
): Promise<Changes> {
  const { streamKey, passphrase, platform, url } = next;
  const name = next.name ?? target.name;
  const enabled = next.enabled ?? target.enabled;
  const hasOtherPassphrase = passphrase !== undefined && (passphrase !== null || target.passphrase !== null);
  const isAnew =
    url !== target.url || platform !== target.platform || streamKey !== undefined || hasOtherPassphrase;
  if (isAnew || enabled !== target.enabled) await rest(change, workspaceId, target, null);
  const key =
    streamKey === undefined
      ? {}
      : {
          stream_key: streamKey === null ? null : secrets.encrypt(streamKey, target.id),
          stream_key_last4: lastFour(streamKey),
        };
  const secret = passphrase && secrets.encrypt(passphrase, passphraseContext(target.id));
  const updated = await repository.updateTarget(change.tx, target.id, {
    ...(isAnew || enabled !== target.enabled ? { ...FRESH, revision: target.revision + 1 } : {}),
    ...key,
    ...(secret === undefined ? {} : { passphrase: secret || null }),
    name,
    platform,
    url,
    enabled,
    updated_at: change.now,
  });
  return changesOf(target, updated);
}

function changesOf(before: TargetRow, after: TargetRow): Changes {
  const shown = ({ name, platform, url, enabled, stream_key_last4: streamKeyLast4 }: TargetRow) =>
    Object.entries({ name, platform, url, enabled, streamKeyLast4 });
  const old = new Map(shown(before));
  return Object.fromEntries(
    shown(after)
      .filter(([field, to]) => old.get(field) !== to)
      .map(([field, to]) => [`targets.${after.id}.${field}`, { from: old.get(field), to }]),
  );
}
