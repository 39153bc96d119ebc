import { badRequest } from '../../../kernel/errors.ts';
import { type PullUrl, parsePullUrl } from '../../../kernel/pull-url.ts';
import type { BridgeLayout, BridgeStatus, BridgeType } from '../../../platform/db/tables.generated.ts';

/** Requested settings of a new bridge. */
export interface BridgeSettings {
  type: BridgeType;
  sourceId?: string | null;
  sourceUrl?: string | null;
  layout?: BridgeLayout | null;
}

export const OPEN: readonly BridgeStatus[] = ['PENDING', 'CONNECTING', 'ACTIVE'];

/**
 * Parses the source of a bridge and checks its form. The host is checked later.
 *
 * @returns the URL of a pull; null for a room or a stream.
 * @throws {AppError} BAD_REQUEST, field `sourceId`, `sourceUrl` or `layout`.
 */
export function readSource({ type, sourceId, sourceUrl, layout }: BridgeSettings): PullUrl | null {
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
  /** Message of the last failure; null if the bridge never failed or has delivered media since. */
  error: string | null;
  started_at: Date | null;
}

/**
 * Returns the event to emit for a change. Of consecutive failures only the first is reported, until the
 * bridge gives up. Releasing a bridge keeps `error` unchanged, so the reported state stays valid after a
 * platform fault.
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
