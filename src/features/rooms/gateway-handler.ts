import { AppError } from '../../kernel/errors.ts';
import { InvalidSignalError } from '../../media/contract/index.ts';
import type { RoomGatewayDeps } from './gateway-deps.ts';
import type { Incoming, Moderation } from './gateway-messages.ts';
import type { LocalRoom } from './local-room.ts';
import type { ParticipantRow } from './participants.repository.ts';
import { hasVisibleText } from './rules.ts';
import type { Connection } from './websocket-connection.ts';

type Deps = Pick<RoomGatewayDeps, 'rooms' | 'entrance' | 'moderation' | 'clock' | 'log'>;

/** Creates the handler of browser messages. @returns a function that never throws. */
export function createMessageHandler(
  deps: Deps,
  roomOf: (id: string) => LocalRoom | undefined,
): (connection: Connection, message: Incoming) => Promise<void> {
  return async (connection, message) => {
    try {
      await take(deps, roomOf, connection, message);
    } catch (error) {
      connection.send({ type: 'error', ...wordsOf(deps, error) });
    }
  };
}

function wordsOf({ log }: Deps, error: unknown): { code: string; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  if (error instanceof InvalidSignalError) return { code: 'BAD_SIGNAL', message: error.message };
  log.error({ err: error }, 'a message of a participant failed');
  return { code: 'INTERNAL_ERROR', message: 'Internal server error.' };
}

async function take(
  deps: Deps,
  roomOf: (id: string) => LocalRoom | undefined,
  connection: Connection,
  message: Incoming,
): Promise<void> {
  const { row } = connection;
  if (row === null || connection.isOver) return;
  if (message.type === 'ping') return connection.send({ type: 'pong' });
  if (message.type === 'leave') {
    await deps.entrance.leave(row.room_id, row.id, connection.id);
    return connection.close('LEFT');
  }
  if (connection.shown !== 'IN') {
    throw new AppError('CONFLICT', { message: 'You have not joined the room yet.' });
  }
  switch (message.type) {
    case 'signal':
      return connection.engine?.signal(message.data);
    case 'state':
      return deps.moderation.setSending(row, message);
    case 'hand':
      return deps.moderation.setHand(row, message.raised);
    case 'chat':
      return chat(deps, roomOf(row.room_id), row, message.text);
    case 'moderate':
      return moderate(deps, row, message);
  }
}

function chat({ clock }: Deps, room: LocalRoom | undefined, row: ParticipantRow, text: string): void {
  if (!row.can_publish_data)
    throw new AppError('PERMISSION_DENIED', { message: 'You are not allowed to post here.' });
  if (!hasVisibleText(text))
    throw new AppError('BAD_REQUEST', { message: 'The message must contain visible characters.' });
  const { identity, name } = row;
  room?.broadcast({ type: 'chat', identity, name, text, at: clock.now().toISOString() });
}

async function moderate(
  { rooms, moderation }: Deps,
  row: ParticipantRow,
  message: Moderation,
): Promise<void> {
  if (row.role !== 'HOST') throw new AppError('PERMISSION_DENIED', { message: 'Only hosts can do this.' });
  const place = { workspaceId: null, roomId: row.room_id };
  const { action, identity, kind, on = true } = message;
  if (action === 'end') return void (await rooms.end(place));
  if (action === 'record') return void (await rooms.record(place, on));
  if (identity === undefined) throw missing('identity');
  switch (action) {
    case 'admit':
      return void (await moderation.admit(place, identity));
    case 'deny':
      return moderation.deny(place, identity);
    case 'kick':
      return moderation.kick(place, identity, true);
    case 'mute':
      if (kind === undefined) throw missing('kind');
      return void (await moderation.mute(place, identity, kind, on));
  }
}

function missing(field: string): AppError {
  return new AppError('BAD_REQUEST', { field, message: `${field} is required.` });
}
