import type { Mode } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { omitUndefined } from '../../../kernel/diff.ts';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db } from '../../../platform/db/index.ts';
import { fetchImage } from '../../../platform/fetch-image.ts';
import type { Images } from '../../../platform/images.ts';
import type { Outbound } from '../../../platform/outbound/index.ts';
import type { PublicProfile } from '../../identity/accounts/index.ts';
import type { FollowState } from '../../identity/users/index.ts';
import type { ChannelRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';

export interface ChannelInput {
  displayName?: string | null;
  description?: string | null;
  links?: { label: string; url: string }[];
  /** URL from which the image is fetched; null removes it. */
  bannerUrl?: string | null;
}

/** Channel as every viewer sees it. */
export interface ChannelDetails {
  workspaceId: string;
  profile: Omit<PublicProfile, 'bio'>;
  /** Profile row; undefined while the channel has no profile. */
  row: (ChannelRow & { banner_id: string | null }) | undefined;
  standing: FollowState;
}

interface Owner {
  accountId: string;
  workspaceId: string;
}

/** The channel of each workspace (docs/concepts/channels.md): the live one is public. */
export interface Channels {
  /**
   * Returns the workspace of the live channel. @throws {AppError} NOT_FOUND, also for a suspended account.
   */
  workspaceNamed(username: string): Promise<string>;
  /** @throws {AppError} NOT_FOUND. */
  named(username: string): Promise<ChannelDetails>;
  /** @param id `me`, or the ID of the channel. @throws {AppError} NOT_FOUND for any other. */
  own(owner: Owner, id: string): Promise<ChannelDetails>;
  /** @throws {AppError} as `own`; BAD_REQUEST naming the input. */
  update(owner: Owner, id: string, input: ChannelInput): Promise<ChannelDetails>;
  /** @param bytes null when no file was sent. @throws {AppError} as `own`; BAD_REQUEST, field `file`. */
  setBanner(owner: Owner, id: string, bytes: Uint8Array | null): Promise<ChannelDetails>;
  /** @throws {AppError} NOT_FOUND, also without a banner. */
  removeBanner(owner: Owner, id: string): Promise<void>;
  /** Returns the JPEG of a banner, without authorization. */
  banner(id: string): Promise<Uint8Array | undefined>;
}

/** Maximum size of an uploaded image. */
export const BANNER_MAX_BYTES = 5_242_880;
/** Maximum pixels of its longer side. */
const BANNER_SIZE = 2048;

interface Deps {
  db: Db;
  clock: Clock;
  images: Pick<Images, 'within'>;
  fetcher: Pick<Outbound, 'download'>;
  profiles: {
    /** @throws {AppError} NOT_FOUND. */
    get(accountId: string): Promise<Omit<PublicProfile, 'bio'>>;
    /** @throws {AppError} NOT_FOUND, also for a suspended account. */
    named(username: string): Promise<PublicProfile>;
  };
  workspaceOf(accountId: string, mode: Mode): Promise<string>;
  followStateOf(workspaceId: string): Promise<FollowState>;
  /** Returns the URL of a banner. */
  bannerUrl(id: string): string;
}

export function createChannels(deps: Deps): Channels {
  const { db, profiles, workspaceOf } = deps;
  const own = async (owner: Owner, id: string) => {
    assertOwn(owner, id);
    return shown(deps, owner.workspaceId, await profiles.get(owner.accountId));
  };
  return {
    own,
    async workspaceNamed(username) {
      return workspaceOf((await profiles.named(username)).id, 'live');
    },
    async named(username) {
      const profile = await profiles.named(username);
      return shown(deps, await workspaceOf(profile.id, 'live'), profile);
    },
    async update(owner, id, input) {
      const before = await own(owner, id);
      await change(deps, before, input);
      return own(owner, id);
    },
    async setBanner(owner, id, bytes) {
      assertOwn(owner, id);
      if (bytes === null) throw badRequest('file', 'Send a file as multipart/form-data.');
      const image = await pictureOf(deps, bytes, 'file');
      await write(deps, owner.workspaceId, {}, image);
      return own(owner, id);
    },
    async removeBanner(owner, id) {
      assertOwn(owner, id);
      await removeBanner(deps, owner.workspaceId);
    },
    banner: (id) => repository.findBanner(db, id),
  };
}

function assertOwn({ workspaceId }: Owner, id: string): void {
  if (id !== 'me' && id !== rules.channelIdOf(workspaceId)) throw notFound();
}

async function shown(
  { db, followStateOf }: Deps,
  workspaceId: string,
  profile: ChannelDetails['profile'],
): Promise<ChannelDetails> {
  const [row, standing] = await Promise.all([
    repository.findChannel(db, workspaceId),
    followStateOf(workspaceId),
  ]);
  return { workspaceId, profile, row, standing };
}

async function change(deps: Deps, before: ChannelDetails, input: ChannelInput): Promise<void> {
  const { displayName, description, links, bannerUrl } = input;
  const values = omitUndefined({
    display_name: displayName === undefined ? undefined : rules.parseDisplayName(displayName),
    description: description === undefined ? undefined : rules.parseDescription(description),
    links: links === undefined ? undefined : JSON.stringify(rules.parseLinks(links)),
  });
  const banner = await bannerOf(deps, before, bannerUrl);
  if (Object.keys(values).length > 0 || banner !== undefined) {
    await write(deps, before.workspaceId, values, banner);
  }
}

/** Returns undefined when the banner is unchanged: the channel's own banner URL changes nothing. */
async function bannerOf(
  deps: Deps,
  { row }: ChannelDetails,
  url: string | null | undefined,
): Promise<Uint8Array | null | undefined> {
  if (url === undefined || url === null) return url;
  const known = row?.banner_id ?? null;
  if (known !== null && url === deps.bannerUrl(known)) return undefined;
  const of = { field: 'bannerUrl', maxBytes: BANNER_MAX_BYTES };
  return pictureOf(deps, await fetchImage(deps.fetcher, url, of), 'bannerUrl');
}

async function pictureOf({ images }: Deps, bytes: Uint8Array, field: string): Promise<Uint8Array> {
  const image = await images.within(bytes, BANNER_SIZE);
  if (image === null) throw badRequest(field, 'The file is not a valid PNG, JPEG or WebP image.');
  return image;
}

/** @param banner null removes it, undefined leaves it unchanged. */
function write(
  { db, clock }: Deps,
  workspaceId: string,
  values: repository.ChannelChange,
  banner: Uint8Array | null | undefined,
): Promise<void> {
  const now = clock.now();
  return db.transaction().execute(async (tx) => {
    await repository.upsertChannel(tx, workspaceId, { ...values, updated_at: now });
    if (banner === null) await repository.deleteBanner(tx, workspaceId);
    else if (banner !== undefined) {
      const row = { id: newId('bnr'), workspace_id: workspaceId, image: banner, created_at: now };
      await repository.upsertBanner(tx, row);
    }
  });
}

/**
 * Removes the banner; locks the channel first, as `write` does. @throws {AppError} NOT_FOUND when there is
 * none; nothing is written.
 */
function removeBanner({ db, clock }: Deps, workspaceId: string): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await repository.upsertChannel(tx, workspaceId, { updated_at: clock.now() });
    if (!(await repository.deleteBanner(tx, workspaceId))) throw notFound();
  });
}
