import type { AppendEvent } from '../../../events/index.ts';
import type { Mode } from '../../../kernel/access.ts';
import { AppError, quotaExceeded } from '../../../kernel/errors.ts';
import { MAX_LIVE_FPS, PLANS, type Plan } from '../../../kernel/plans.ts';
import type { PublishGrant, PublishRequest } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace, type WorkspaceOwner } from '../../../platform/db/workspace.ts';
import type { SecretLookups } from '../../../platform/secret-lookups.ts';
import * as bridges from './bridges.repository.ts';
import { healthMessage } from './health-messages.ts';
import type { StreamRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import { hashStreamKey } from './service.ts';
import { emitRejection } from './stream-notifications.service.ts';

// Grants: who may publish, and with which settings. `StreamSignals` documents each function.

/** Removes the slashes and white space around a key, which people type or paste with it; a key has none itself. */
function normalizeStreamKey(typed: string): string {
  return /^[\s/]*([^\s/]+)[\s/]*$/.exec(typed)?.[1] ?? typed;
}

export async function authorise(
  { db, streamKeys }: { db: Db; streamKeys: SecretLookups },
  request: PublishRequest,
): Promise<PublishGrant | null> {
  const hash = hashStreamKey(normalizeStreamKey(request.key));
  const name = nameOf(hash);
  if (!(await streamKeys.exists(name))) return null;
  const found = await repository.findPublisher(db, hash);
  if (found === undefined || !found.enabled || found.suspended_at !== null) return null;
  return { ...grantOf(found), keyHash: name };
}

function nameOf(keyHash: Uint8Array): string {
  return Buffer.from(keyHash).toString('base64');
}

export async function admitBridge(db: Db, streamId: string): Promise<PublishGrant | string> {
  const found = await findTarget(db, streamId);
  if (typeof found === 'string') return found;
  return found.ingest_id === null ? grantOf(found) : 'Another encoder is already publishing to this stream.';
}

export async function admitEncoder(db: Db, streamId: string): Promise<PublishGrant | string> {
  const found = await findTarget(db, streamId);
  return typeof found === 'string' ? found : { ...grantOf(found), keyHash: nameOf(found.key_hash) };
}

/** @returns the reason why nothing may be published, as a text. */
async function findTarget(db: Db, streamId: string) {
  const found = await bridges.findTarget(db, streamId);
  if (found === undefined) return 'The stream no longer exists.';
  const isOpen = found.enabled && found.suspended_at === null;
  return isOpen ? found : 'Publishing to this stream is not allowed right now.';
}

type Publishable = Pick<StreamRow, 'id' | 'latency_mode'> & { plan: Plan; mode: Mode };

function grantOf({ id, plan, mode, latency_mode: latencyMode }: Publishable): PublishGrant {
  const { maxHeight } = rules.livePlan(plan, mode);
  return {
    streamId: id,
    maxHeight,
    maxFps: MAX_LIVE_FPS,
    maxBitrateKbps: PLANS[plan].maxLiveKbps,
    latencyMode,
  };
}

/**
 * Locks the stream.
 *
 * @returns null when the grant is no longer valid: the stream is deleted, disabled, or has another key.
 */
export async function lockGranted(
  tx: Tx,
  { streamId, keyHash }: PublishGrant,
): Promise<{ row: StreamRow; account: WorkspaceOwner } | null> {
  // The workspace before the stream, in the order of `Streams.start`: two orders would deadlock.
  const workspaceId = await repository.workspaceOfStream(tx, streamId);
  if (workspaceId === undefined) return null;
  const account = await lockWorkspace(tx, workspaceId);
  const row = await repository.lockAnyStream(tx, streamId);
  if (row === undefined || row.deleted_at !== null || !row.enabled) return null;
  return keyHash === undefined || keyHash === nameOf(row.key_hash) ? { row, account } : null;
}

export async function admitOffer(
  now: Date,
  { tx, append }: { tx: Tx; append: AppendEvent },
  grant: PublishGrant,
): Promise<AppError | null> {
  const granted = await lockGranted(tx, grant);
  if (granted === null) return new AppError('UNAUTHORIZED');
  const { row, account } = granted;
  const { id, workspace_id: workspaceId } = row;
  if (row.has_signal) return null;
  const encoders = await bridges.countEncoders(tx, workspaceId, id);
  const others = encoders + (await bridges.countPending(tx, workspaceId, id));
  if (others < PLANS[account.plan].encoders) return null;
  await emitRejection(tx, append, row, { session: {}, issue: 'ENCODERS_OVER_PLAN', now });
  const { meaning, remedy } = healthMessage('ENCODERS_OVER_PLAN');
  return quotaExceeded({ workspaceId, resource: 'ENCODERS' }, `${meaning} ${remedy}`);
}
