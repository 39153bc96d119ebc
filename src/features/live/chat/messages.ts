import type { Static } from 'typebox';
import type { BanRow } from './repository.ts';
import type { ChatBan, ChatMessage } from './schemas.ts';
import type { ChatMessageDetails } from './service.ts';

export function toMessage({ row, creator }: ChatMessageDetails): ChatMessage {
  return {
    id: row.id,
    streamId: row.stream_id,
    eventId: `${row.at.getTime()}-${row.seq}`,
    kind: row.kind,
    text: row.text,
    author: authorOf({ row, creator }),
    replyToId: row.reply_to_id,
    createdAt: row.created_at.toISOString(),
    deletedAt: row.deleted_at?.toISOString() ?? null,
  };
}

const SYSTEM = { id: null, username: null, displayName: 'System', avatarUrl: null, badges: [] };

function authorOf({ row, creator }: ChatMessageDetails): ChatMessage['author'] {
  if (row.kind === 'SYSTEM') return SYSTEM;
  if (row.guest_name === null) {
    const { id, username, displayName, avatarUrl } = creator;
    return { id, username, displayName, avatarUrl, badges: ['CREATOR'] };
  }
  return {
    id: row.author_id,
    username: null,
    displayName: row.guest_name,
    avatarUrl: null,
    badges: ['GUEST'],
  };
}

export function toBan(row: BanRow): Static<typeof ChatBan> {
  return {
    id: row.id,
    streamId: row.stream_id,
    authorId: row.author_id,
    expiresAt: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
