import type { RoomEngine, RoomPermissions } from '../../media/contract/index.ts';
import { KINDS, mutesOf } from './gateway-messages.ts';
import type { ParticipantRow } from './participants.repository.ts';
import type { Connection } from './websocket-connection.ts';

/**
 * Connects a browser to the engine. After a reconnect the browser is notified, so that it sends its media
 * again.
 */
export async function attachEngine(engine: RoomEngine, ref: string, connection: Connection): Promise<void> {
  const { row } = connection;
  if (row === null) return;
  const isAgain = connection.engine !== null || connection.isEngineDown;
  await detachEngine(connection);
  const peer = {
    identity: row.identity,
    name: row.name,
    role: row.role,
    permissions: permissionsIn(row),
  };
  const seat = await engine.connect(ref, peer, (data) => connection.send({ type: 'signal', data }));
  connection.engine = seat;
  connection.isEngineDown = false;
  if (connection.isOver) return detachEngine(connection);
  for (const kind of engine.caps.serverMute ? KINDS : []) {
    // Reads the newest row, because a host may have muted in between.
    if (mutesOf(connection.row ?? row)[kind]) await engine.setMuted(ref, row.identity, kind, true);
  }
  if (isAgain) connection.send({ type: 'engine', state: 'up' });
}

/** Returns the permissions of a participant for this stay. */
export function permissionsIn(row: ParticipantRow): RoomPermissions {
  return {
    canPublish: row.can_publish,
    canSubscribe: row.can_subscribe,
    canPublishData: row.can_publish_data,
    canScreenShare: row.can_screen_share,
  };
}

export async function detachEngine(connection: Connection): Promise<void> {
  const { engine } = connection;
  connection.engine = null;
  // An engine that is down has already released all participants.
  await engine?.close().catch(() => {});
}
