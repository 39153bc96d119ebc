import type { Clock } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { type Db, violatedConstraint } from '../../../platform/db/index.ts';
import type { AccountEmbedMode as EmbedMode } from '../../../platform/db/tables.generated.ts';
import { fetchImage } from '../../../platform/fetch-image.ts';
import type { Images } from '../../../platform/images.ts';
import type { Outbound } from '../../../platform/outbound/index.ts';
import type { ProfileChange, ProfileRow, PublicProfile } from './profile.repository.ts';
import * as repository from './profile.repository.ts';
import * as rules from './rules.ts';

export interface ProfileInput {
  name?: string | null;
  username?: string;
  bio?: string | null;
  locale?: string;
  timezone?: string;
}

/** Profile of an account. */
export interface Profiles {
  get(accountId: string): Promise<ProfileRow>;
  /**
   * Returns the public profile by exact username. @throws {AppError} NOT_FOUND, also for a suspended account.
   */
  named(username: string): Promise<PublicProfile>;
  /** @throws {AppError} BAD_REQUEST naming the input; CONFLICT, field `username`. */
  update(accountId: string, input: ProfileInput): Promise<ProfileRow>;
  /**
   * Sets the avatar from its bytes or from a URL to fetch. @throws {AppError} BAD_REQUEST, PAYLOAD_TOO_LARGE.
   */
  setAvatar(accountId: string, source: { bytes: Uint8Array } | { url: string }): Promise<ProfileRow>;
  /** @throws {AppError} NOT_FOUND when there is none. */
  removeAvatar(accountId: string): Promise<void>;
  /** Returns the WebP of an avatar, without authorization. */
  avatar(id: string): Promise<Uint8Array | undefined>;
  /** @throws {AppError} BAD_REQUEST naming the domain. */
  setEmbedding(accountId: string, input: { domains: string[]; mode: EmbedMode }): Promise<ProfileRow>;
}

/** Maximum size of an uploaded image. */
export const AVATAR_MAX_BYTES = 5_242_880;
const AVATAR_SIZE = 512;

interface Deps {
  db: Db;
  clock: Clock;
  images: Images;
  fetcher: Pick<Outbound, 'download'>;
}

export function createProfiles({ db, clock, images, fetcher }: Deps): Profiles {
  const get = async (accountId: string) => {
    const row = await repository.findProfile(db, accountId);
    if (row === undefined) throw notFound();
    return row;
  };
  const change = async (accountId: string, values: ProfileChange) => {
    if (Object.keys(values).length > 0) await repository.updateProfile(db, accountId, values);
    return get(accountId);
  };
  /** A reserved name that the operator assigned may stay. */
  const assertMayBeCalled = async (accountId: string, username?: string) => {
    if (username === undefined || (await get(accountId)).username === username) return;
    rules.assertNotReserved(username);
  };
  return {
    get,
    async named(username) {
      const row = await repository.findPublicProfile(db, username);
      if (row === undefined) throw notFound();
      return row;
    },
    async update(accountId, input) {
      try {
        const changes = rules.parseProfile(input);
        await assertMayBeCalled(accountId, changes.username);
        return await change(accountId, changes);
      } catch (error) {
        if (violatedConstraint(error) !== 'account_username') throw error;
        throw new AppError('CONFLICT', {
          field: 'username',
          message: 'This username is already taken.',
          cause: error,
        });
      }
    },
    async setAvatar(accountId, source) {
      const fetched = 'url' in source;
      const bytes = fetched
        ? await fetchImage(fetcher, source.url, { field: 'url', maxBytes: AVATAR_MAX_BYTES })
        : source.bytes;
      const image = await images.square(bytes, AVATAR_SIZE);
      if (image === null)
        throw badRequest(fetched ? 'url' : 'file', 'The file is not a valid PNG, JPEG or WebP image.');
      await repository.upsertAvatar(db, accountId, { id: newId('ava'), image, created_at: clock.now() });
      return get(accountId);
    },
    async removeAvatar(accountId) {
      if (!(await repository.deleteAvatar(db, accountId))) throw notFound();
    },
    avatar: (id) => repository.findAvatar(db, id),
    setEmbedding: (accountId, { domains, mode }) =>
      change(accountId, {
        embed_domains: rules.parseEmbedDomains(domains),
        embed_mode: mode,
        embed_updated_at: clock.now(),
      }),
  };
}
