import { badRequest } from '../../../kernel/errors.ts';
import { type PullUrl, parsePullUrl } from '../../../kernel/pull-url.ts';
import type { BridgeLayout, BridgeStatus, BridgeType } from '../../../platform/db/tables.generated.ts';

/** What its sender asks for. */
export interface BridgeWish {
  type: BridgeType;
  sourceId?: string | null;
  sourceUrl?: string | null;
  layout?: BridgeLayout | null;
}

export const OPEN: readonly BridgeStatus[] = ['PENDING', 'CONNECTING', 'ACTIVE'];

/**
 * The source of a bridge, checked by its form; the guard of addresses comes behind it.
 *
 * @returns the address of a pull; null for a room or a stream.
 * @throws {AppError} BAD_REQUEST, field `sourceId`, `sourceUrl` or `layout`.
 */
export function readSource({ type, sourceId, sourceUrl, layout }: BridgeWish): PullUrl | null {
  if (layout && type !== 'ROOM_TO_STREAM') {
    throw badRequest('layout', 'layout is valid only for ROOM_TO_STREAM bridges.');
  }
  if (type !== 'PULL_TO_STREAM') {
    if (sourceUrl) throw badRequest('sourceUrl', 'sourceUrl is only allowed for PULL_TO_STREAM bridges.');
    if (!sourceId) throw badRequest('sourceId', `sourceId is required for ${type} bridges.`);
    return null;
  }
  if (sourceId)
    throw badRequest('sourceId', 'sourceId is not allowed for PULL_TO_STREAM bridges; use sourceUrl.');
  if (!sourceUrl) throw badRequest('sourceUrl', 'sourceUrl is required for PULL_TO_STREAM bridges.');
  const address = parsePullUrl(sourceUrl);
  if (typeof address === 'string') throw badRequest('sourceUrl', `The URL was rejected: ${address}.`);
  return address;
}

interface Reported {
  status: BridgeStatus;
  /** Of the last failure; null where it has carried media since, or never failed. */
  error: string | null;
  started_at: Date | null;
}

/**
 * What receivers are told of a change; of failures in a row only the first, until it is given up. Whoever lets go of it
 * leaves `error` alone, so what was told before a fault of the platform holds behind it.
 */
export function eventOf(before: Reported, after: Reported): 'connected' | 'failed' | 'stopped' | null {
  switch (after.status) {
    case 'ACTIVE':
      return before.started_at !== null && before.error === null ? null : 'connected';
    case 'FAILED':
      return 'failed';
    case 'STOPPED':
      return 'stopped';
    case 'PENDING':
      return before.error === null && after.error !== null ? 'failed' : null;
    case 'CONNECTING':
      return null;
  }
}
