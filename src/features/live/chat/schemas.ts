import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

/** Maximum length in code points. */
export const TEXT_MAX = 500;

export const MessageIn = namedSchema(
  'ChatMessageCreate',
  Type.Object({
    text: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
    replyToId: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
    clientId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'A repeated ID within 60 seconds returns the first message.',
      }),
    ),
  }),
  { text: 'Welcome, everyone!', clientId: 'c1' },
);
export type MessageIn = Static<typeof MessageIn>;

const Author = Type.Object({
  id: Nullable(Type.String({ description: 'ID to use in bans; a guest has a different ID on each stream.' })),
  username: Nullable(Type.String()),
  displayName: Type.String(),
  avatarUrl: Nullable(Type.String()),
  badges: Type.Array(OneOf(['CREATOR', 'GUEST'] as const)),
});
export type Author = Static<typeof Author>;

const STREAM = 'str_01kafe3n4pfx2v9yq6m8d7t5zr';
const SAMPLE_AUTHOR: Author = {
  id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
  username: 'ada',
  displayName: 'Ada',
  avatarUrl: null,
  badges: ['CREATOR'],
};

export const ChatMessage = namedSchema(
  'ChatMessage',
  Type.Object({
    id: IdOf('msg'),
    streamId: IdOf('str'),
    eventId: Type.String({
      description: "ID of the message's event in the event stream; use it to resume, or as `since` in lists.",
    }),
    kind: OneOf(VALUES.chat_message.kind, {
      description: 'SYSTEM messages are sent by the platform when settings change.',
    }),
    text: Type.String({ description: 'Plain text; empty once it is deleted.' }),
    author: Author,
    replyToId: Nullable(Type.String()),
    createdAt: Instant,
    deletedAt: Nullable(Instant),
  }),
  {
    id: 'msg_01kafe3n4pfx2v9yq6m8d7t5zr',
    streamId: STREAM,
    eventId: '1795165200000-17',
    kind: 'MESSAGE',
    text: 'Welcome, everyone!',
    author: SAMPLE_AUTHOR,
    replyToId: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    deletedAt: null,
  },
);
export type ChatMessage = Static<typeof ChatMessage>;

export const BanIn = namedSchema(
  'ChatBanCreate',
  Type.Object({
    authorId: Type.String({ maxLength: 64 }),
    seconds: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 1,
          maximum: 31_536_000,
          description: 'Duration of a timeout; if omitted, the ban lasts until it is removed.',
        }),
      ),
    ),
  }),
  { authorId: 'gst_01kafe3n4pfx2v9yq6m8d7t5zr', seconds: 600 },
);
export type BanIn = Static<typeof BanIn>;

export const ChatBan = namedSchema(
  'ChatBan',
  Type.Object({
    id: IdOf('ban'),
    streamId: IdOf('str'),
    authorId: Type.String(),
    expiresAt: Nullable(Instant),
    createdAt: Instant,
  }),
  {
    id: 'ban_01kafe3n4pfx2v9yq6m8d7t5zr',
    streamId: STREAM,
    authorId: 'gst_01kafe3n4pfx2v9yq6m8d7t5zr',
    expiresAt: '2026-11-20T09:10:00.000Z',
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

export const ChatCleared = namedSchema(
  'ChatCleared',
  Type.Object({ streamId: IdOf('str'), before: Instant }),
  {
    streamId: STREAM,
    before: '2026-11-20T09:00:00.000Z',
  },
);
