import { anyKey } from '../../../http/access.ts';
import { defineRoute, ExistingResource, type Limit, type Route } from '../../../http/route.ts';
import { Deleted } from '../../../http/schema.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import type { PublicProfile } from '../accounts/index.ts';
import type { Follows } from './follows.service.ts';
import { Follow, toFollow, toUser, User, Username } from './schemas.ts';
import type { Users } from './service.ts';

/** Limit of follow requests per key or session, through the API and on public pages. */
export const FOLLOW_CAP: Limit = {
  bucket: 'follow',
  per: 'key',
  max: 60,
  windowSec: HOUR_SEC,
  refusal: 'RATE_LIMITED',
};

interface Deps {
  users: Users;
  follows: Follows;
  avatarUrl(profile: Pick<PublicProfile, 'avatar_id'>): string | null;
}

/** `/users` (docs/concepts/users.md). */
export function userRoutes({ users, follows, avatarUrl }: Deps): Route[] {
  const path = '/users/{username}/subscribe';
  return [
    defineRoute({
      ...anyKey,
      operationId: 'users.get',
      method: 'GET',
      path: '/users/{username}',
      summary: 'Get a user',
      description: 'Returns the public profile.',
      params: Username,
      reply: { status: 200, schema: User },
      async handler({ caller }, { params }) {
        const { profile, standing } = await users.get(caller, params.username);
        const { id, username, name, bio, created_at: createdAt } = profile;
        return toUser({ id, username, name, bio, avatarUrl: avatarUrl(profile), createdAt }, standing);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'users.follow',
      method: 'POST',
      path,
      summary: 'Follow a user',
      description: 'Returns 200 if you already follow the user and 409 for your own account.',
      limits: [FOLLOW_CAP],
      params: Username,
      reply: { status: 201, schema: Follow, existing: true },
      errors: ['CONFLICT'],
      async handler({ caller }, { params }) {
        const followed = await follows.follow(caller, params.username);
        const out = toFollow(followed);
        return followed.isNew ? out : new ExistingResource(out);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'users.unfollow',
      method: 'DELETE',
      path,
      summary: 'Unfollow a user',
      description: 'The response `id` is the `subscriptionId`. Returns 404 if you do not follow the user.',
      params: Username,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        const { id } = await follows.unfollow(caller, params.username);
        return { id, deleted: true };
      },
    }),
  ];
}
