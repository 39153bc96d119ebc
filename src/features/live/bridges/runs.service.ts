import type { Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { claimLeases } from '../../../kernel/lease.ts';
import { truncate } from '../../../kernel/truncate.ts';
import {
  BRIDGE_LEASE_MS,
  type BridgePort,
  type BridgeReport,
  type DesiredBridge,
  type RoomParticipantHandle,
} from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { BridgeParticipants } from '../../rooms/index.ts';
import type { BridgeChange, BridgeRow, RunnableBridge } from './repository.ts';
import * as repository from './repository.ts';
import { BRIDGE_TOPIC } from './service.ts';
import { type Change, change, end, isOpen } from './transitions.ts';

export interface BridgeRunDeps {
  db: Db;
  events: Events;
  secrets: Secrets;
  bus: Bus;
  clock: Clock;
  log: Logger;
  rooms: Pick<BridgeParticipants, 'view' | 'seat' | 'leaveEnded'>;
  /** Returns the title of a stream; undefined when the stream is deleted. */
  titleOf(streamId: string): Promise<string | undefined>;
  /** Returns the publish grant of a bridge for a stream; implemented by the streams feature. */
  admit: BridgePort['admit'];
}

/** Runs of bridges: which node runs which bridge, and the results. */
export interface BridgeRuns {
  /** Port for the media plane. */
  readonly port: BridgePort;
  /** Ends the bridges that are due, and releases those of lost nodes. */
  sweep(): Promise<void>;
}

const MAX_MESSAGE = 300;
/** Time after which any node may claim a bridge that its preferred node has not claimed. */
const PREFERENCE_MS = 3000;
const DEFAULT_ERROR_MESSAGE = 'The bridge failed.';
const BAD_ADDRESS = 'The stored source URL can no longer be decrypted. Create another bridge.';

export function createBridgeRuns(deps: BridgeRunDeps): BridgeRuns {
  const { db, clock } = deps;
  const claims = new ClaimOrder(clock);
  return {
    port: {
      admit: deps.admit,
      async started(nodeId) {
        for (const { id } of await repository.listLeasedBridges(db, nodeId)) {
          await letGo(deps, id, (row) => row.node_id === nodeId);
        }
      },
      async wanted(nodeId, hasRooms, machine = [nodeId]) {
        await endOverdue(deps);
        return claimWanted(deps, claims, { nodeId, hasRooms, machine });
      },
      viewRoom: (roomId) => deps.rooms.view(roomId),
      seat: (bridgeId) => seat(deps, bridgeId),
      report: (nodeId, report) => takeReport(deps, nodeId, report),
    },
    async sweep() {
      await endOverdue(deps);
      await deps.rooms.leaveEnded();
      for (const { id } of await repository.listExpiredLeases(db, clock.now())) {
        await letGo(deps, id, ({ lease_until: until }) => until !== null && until <= clock.now());
      }
    },
  };
}

async function withBridge(
  { events, clock }: BridgeRunDeps,
  id: string,
  work: (told: Change, row: BridgeRow) => Promise<unknown>,
): Promise<void> {
  await events.transaction(async (tx, append) => {
    const row = await repository.lockAnyBridge(tx, id);
    if (row !== undefined && isOpen(row)) await work({ tx, append, now: clock.now() }, row);
  });
}

async function endOverdue(deps: BridgeRunDeps): Promise<void> {
  for (const { id, reason } of await repository.listOverdueBridges(deps.db, deps.clock.now())) {
    try {
      await withBridge(deps, id, (told, row) => end(told, row, reason));
      deps.bus.publish(BRIDGE_TOPIC, id);
    } catch (error) {
      deps.log.error({ err: error, bridgeId: id }, 'a bridge could not be ended');
    }
  }
}

/** Releases a bridge from its node. It waits for another node, and this does not count as a failure. */
async function letGo(deps: BridgeRunDeps, id: string, isStill: (row: BridgeRow) => boolean): Promise<void> {
  await withBridge(deps, id, async (told, row) => {
    if (!isStill(row)) return;
    const free = { next_retry_at: null, node_id: null, lease_until: null };
    await change(told, row, { status: 'PENDING', ...free });
  });
}

interface ClaimingNode {
  nodeId: string;
  hasRooms: boolean;
  /** IDs of all nodes of its machine. */
  machine: readonly string[];
}

async function claimWanted(
  deps: BridgeRunDeps,
  claims: ClaimOrder,
  { nodeId, hasRooms, machine }: ClaimingNode,
): Promise<DesiredBridge[]> {
  const { db, bus, clock } = deps;
  const now = clock.now();
  const found = await repository.runnableOn(db, nodeId, hasRooms, now);
  const isElsewhere = (row: RunnableBridge) => isPublishedBeside(row, nodeId, machine);
  for (const { id } of found.filter((row) => row.node_id === nodeId && isElsewhere(row))) {
    await letGo(deps, id, (row) => row.node_id === nodeId);
    bus.publish(BRIDGE_TOPIC, id);
  }
  const here = found.filter((row) => !isElsewhere(row));
  const rows = claims.select(here, nodeId, machine);
  const mine = await claimLeases(rows, {
    ...{ nodeId, now, leaseMs: BRIDGE_LEASE_MS },
    claim: (ids, until) => repository.claimBridges(db, nodeId, ids, { now, until }),
  });
  const wanted = await Promise.all(mine.map((row) => toWanted(deps, row)));
  return wanted.filter((one) => one !== null);
}

/** Reports whether another node of the machine receives the stream that the bridge plays in a room. */
function isPublishedBeside(
  { type, publishing_node_id: publisher }: RunnableBridge,
  nodeId: string,
  machine: readonly string[],
): boolean {
  if (type !== 'STREAM_TO_ROOM' || publisher === null) return false;
  return publisher !== nodeId && machine.includes(publisher);
}

/** Order in which the nodes of a machine claim unclaimed bridges, so that each gets its share. */
class ClaimOrder {
  readonly #clock: Clock;
  /** Times at which unclaimed bridges were first seen, by their IDs. */
  #unclaimed: ReadonlyMap<string, number> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the bridges that the node holds or may claim now. */
  select(rows: readonly RunnableBridge[], nodeId: string, machine: readonly string[]): RunnableBridge[] {
    const nowMs = this.#clock.ms();
    const unclaimed = rows.filter((row) => row.node_id !== nodeId);
    const since = new Map(unclaimed.map(({ id }) => [id, this.#unclaimed.get(id) ?? nowMs]));
    this.#unclaimed = since;
    return rows.filter(
      (row) =>
        row.node_id === nodeId ||
        row.publishing_node_id === nodeId ||
        preferredNode(row.id, machine) === nodeId ||
        nowMs - (since.get(row.id) ?? nowMs) >= PREFERENCE_MS,
    );
  }
}

function preferredNode(bridgeId: string, machine: readonly string[]): string | undefined {
  const sum = [...bridgeId].reduce((total, character) => total + character.charCodeAt(0), 0);
  return machine[sum % machine.length];
}

/** Returns null, and fails the bridge, when its URL cannot be read. */
async function toWanted(deps: BridgeRunDeps, row: BridgeRow): Promise<DesiredBridge | null> {
  const { id: bridgeId, type, source_id: sourceId, target_id: targetId, auto_restart: autoRestart } = row;
  try {
    if (type === 'PULL_TO_STREAM') {
      if (row.source_url === null) return null;
      const sourceUrl = deps.secrets.decrypt(row.source_url, row.id);
      return { type, bridgeId, streamId: targetId, sourceUrl, autoRestart };
    }
    if (sourceId === null) return null;
    if (type === 'STREAM_TO_ROOM')
      return { type, bridgeId, streamId: sourceId, roomId: targetId, autoRestart };
    const layout = row.layout ?? 'GRID';
    return { type, bridgeId, streamId: targetId, roomId: sourceId, layout, autoRestart };
  } catch {
    await withBridge(deps, row.id, (told, locked) => change(told, locked, failed(BAD_ADDRESS, told.now)));
    return null;
  }
}

async function seat(deps: BridgeRunDeps, bridgeId: string): Promise<RoomParticipantHandle | string> {
  const row = await repository.findAnyBridge(deps.db, bridgeId);
  if (row === undefined || !isOpen(row) || row.source_id === null) return 'The bridge has ended.';
  const title = await deps.titleOf(row.source_id);
  if (title === undefined) return 'The stream was deleted.';
  return deps.rooms.seat(row.target_id, { bridgeId, name: title });
}

async function takeReport(deps: BridgeRunDeps, nodeId: string, report: BridgeReport): Promise<void> {
  await withBridge(deps, report.bridgeId, async (told, row) => {
    if (row.node_id === nodeId) await change(told, row, changeOf(row, report, told.now));
  });
}

function changeOf(row: BridgeRow, report: BridgeReport, now: Date): BridgeChange {
  const { status, retryCount, retryInMs, endReason } = report;
  const message = report.message === null ? null : truncate(report.message, MAX_MESSAGE);
  switch (status) {
    case 'FAILED':
      return { ...failed(message, now), retry_count: retryCount };
    case 'STOPPED':
      return {
        status,
        end_reason: endReason ?? 'SOURCE_ENDED',
        error: null,
        next_retry_at: null,
        stopped_at: now,
        node_id: null,
        lease_until: null,
      };
    case 'ACTIVE':
      return {
        status,
        error: null,
        retry_count: retryCount,
        next_retry_at: null,
        started_at: row.started_at ?? now,
      };
    case 'PENDING':
      return {
        status,
        // A non-null error marks the bridge as failed.
        error: message ?? DEFAULT_ERROR_MESSAGE,
        retry_count: retryCount,
        next_retry_at: retryInMs === null ? null : dateFromMs(now.getTime() + retryInMs),
      };
    case 'CONNECTING':
      return { status, retry_count: retryCount, next_retry_at: null };
  }
}

function failed(message: string | null, now: Date): BridgeChange {
  return {
    status: 'FAILED',
    error: message,
    next_retry_at: null,
    stopped_at: now,
    node_id: null,
    lease_until: null,
  };
}
