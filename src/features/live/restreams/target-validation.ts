import type { Insertable } from 'kysely';
import { badRequest, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { PLANS, type Plan } from '../../../kernel/plans.ts';
import type { PushUrl } from '../../../kernel/push-url.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { RestreamTargetPlatform, RestreamTargetTable } from '../../../platform/db/tables.generated.ts';
import { GuardError, type Outbound } from '../../../platform/outbound/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import * as repository from './repository.ts';
import { lastFour, PRESETS, parseTarget } from './rules.ts';

export interface NewTarget {
  platform?: RestreamTargetPlatform;
  name?: string;
  url?: string;
  streamKey?: string | null;
  passphrase?: string | null;
  enabled?: boolean;
}

export type CheckedTarget = NewTarget & { url: string; address: PushUrl };

/**
 * The form of a target, and its address before the guard: docs/decisions/restreams.md#target-urls.
 *
 * @throws {AppError} BAD_REQUEST, field `url` or `streamKey` behind the prefix.
 */
export async function validateTarget(
  deps: { fetcher: Pick<Outbound, 'checkUrl'> },
  input: NewTarget,
  prefix = '',
): Promise<CheckedTarget> {
  const platform = input.platform ?? 'CUSTOM';
  const { streamKey, passphrase } = input;
  const { url, address } = parseTarget({ platform, url: input.url, streamKey, passphrase }, prefix);
  await validateTargetUrl(deps, address, prefix);
  return { ...input, platform, url, address };
}

/** @throws {AppError} BAD_REQUEST, field `url` behind the prefix. */
export async function validateTargetUrl(
  { fetcher }: { fetcher: Pick<Outbound, 'checkUrl'> },
  address: PushUrl,
  prefix = '',
): Promise<void> {
  try {
    await fetcher.checkUrl(address.guarded);
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw badRequest(`${prefix}url`, `Cannot send to this URL: ${error.reason}.`);
  }
}

/** @throws {AppError} QUOTA_EXCEEDED; for certain under the lock of the workspace. */
export async function assertTargetQuota(
  db: Db,
  workspaceId: string,
  plan: Plan,
  more: number,
): Promise<void> {
  if (more === 0) return;
  const limit = PLANS[plan].restreamTargets;
  if ((await repository.countTargets(db, workspaceId)) + more > limit) {
    throw quotaExceeded(
      { workspaceId, resource: 'RESTREAM_TARGETS' },
      `Limit of ${limit} restream targets reached for this plan.`,
    );
  }
}

/** Returns the context to which an encrypted passphrase is bound. */
export const passphraseContext = (targetId: string) => `${targetId} passphrase`;

/** Returns the row of a validated target. */
export function newTarget(
  { secrets }: { secrets: Secrets },
  restreamId: string,
  {
    platform = 'CUSTOM',
    name,
    url,
    streamKey = null,
    passphrase = null,
    enabled = true,
    address,
  }: CheckedTarget,
  now: Date,
): Insertable<RestreamTargetTable> {
  const id = newId('rtg');
  return {
    id,
    restream_id: restreamId,
    name: name ?? (platform === 'CUSTOM' ? address.host.slice(0, 200) : PRESETS[platform].name),
    platform,
    url,
    stream_key: streamKey === null ? null : secrets.encrypt(streamKey, id),
    stream_key_last4: lastFour(streamKey),
    passphrase: passphrase === null ? null : secrets.encrypt(passphrase, passphraseContext(id)),
    enabled,
    created_at: now,
    updated_at: now,
  };
}
