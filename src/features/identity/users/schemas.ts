import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable } from '../../../http/schema.ts';
import type { Followed } from './follows.service.ts';

export const Username = Type.Object({
  username: Type.String({ description: "The channel's username.", examples: ['ada'] }),
});

export const User = namedSchema(
  'User',
  Type.Object({
    id: IdOf('usr'),
    username: Type.String(),
    name: Nullable(Type.String()),
    avatarUrl: Nullable(Type.String()),
    bio: Nullable(Type.String()),
    isLive: Type.Boolean({ description: 'Whether a PUBLIC stream is live.' }),
    followerCount: Type.Integer(),
    videoCount: Type.Integer({ description: 'Number of playable PUBLIC videos.' }),
    createdAt: Instant,
  }),
  {
    id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
    username: 'ada',
    name: 'Ada Lovelace',
    avatarUrl: 'https://video.example.com/avatars/ava_01kafe3n4pfx2v9yq6m8d7t5zr.webp',
    bio: null,
    isLive: false,
    followerCount: 1200,
    videoCount: 64,
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

export const Follow = namedSchema(
  'Follow',
  Type.Object({
    subscriptionId: IdOf('fol'),
    username: Type.String({ description: 'Username of the followed channel.' }),
    subscribedAt: Instant,
    isNew: Type.Boolean({ description: 'False if you already followed the channel.' }),
  }),
  {
    subscriptionId: 'fol_01kafe3n4pfx2v9yq6m8d7t5zr',
    username: 'ada',
    subscribedAt: '2026-11-20T09:00:00.000Z',
    isNew: true,
  },
);

/** User data other than counts. */
interface UserRow {
  id: string;
  username: string;
  name: string | null;
  bio: string | null;
  avatarUrl: string | null;
  createdAt: Date;
}

/** Live state and counts of a user. */
export interface FollowState {
  isLive: boolean;
  followerCount: number;
  videoCount: number;
}

export function toUser(row: UserRow, standing: FollowState): Static<typeof User> {
  const { id, username, name, avatarUrl, bio, createdAt } = row;
  return { id, username, name, avatarUrl, bio, ...standing, createdAt: createdAt.toISOString() };
}

export function toFollow({ row, username, isNew }: Followed): Static<typeof Follow> {
  return { subscriptionId: row.id, username, subscribedAt: row.created_at.toISOString(), isNew };
}
