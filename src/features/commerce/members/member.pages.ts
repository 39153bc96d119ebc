import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { CardService } from '../payments/index.ts';
import type { Subscriptions } from '../subscriptions/index.ts';
import type { MemberCookie } from './cookie.ts';
import * as views from './member.views.ts';
import type { Creator, Member } from './repository.ts';
import { type Members, memberPath } from './service.ts';

/** Cards of members, stored by the provider of the workspace. */
export interface MemberCards {
  isSandbox(workspaceId: string): Promise<boolean>;
  /** Origin of the live provider's card page. */
  providerPages: string;
  /** Stores a card of the member who is present. */
  collect: CardService['collect'];
}

interface Deps {
  members: Members;
  subscriptions: Pick<
    Subscriptions,
    'listOfCustomer' | 'cancel' | 'resume' | 'switchTier' | 'saveCard' | 'useSavedCard' | 'renewals'
  >;
  cards: MemberCards;
  cookie: MemberCookie;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  publicUrl: string;
}

type Params = { username: string };
type PageRequest = FastifyRequest<{ Params: Params; Querystring: Record<string, unknown>; Body: unknown }>;

const FORM_BYTES = 16_384;
const LINK_CAP: Limit = {
  bucket: 'member-link',
  per: 'ip',
  max: 10,
  windowSec: 900,
  refusal: 'RATE_LIMITED',
};
const FORMS: Limit = {
  bucket: 'member-form',
  per: 'ip',
  max: 300,
  windowSec: 600,
  refusal: 'RATE_LIMITED',
};
const FORM_PURPOSE = 'member-form';

/** Success messages by their name in the redirect after a form. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['cancel', 'Subscription canceled.'],
  ['resume', 'Subscription resumed.'],
  ['switch', 'Plan change scheduled.'],
  ['card', 'Card saved. Choose below which subscriptions it pays for.'],
  ['use', 'Your saved card will be used for this subscription.'],
  ['pay', 'Thank you. The subscription renews as soon as your bank confirms the payment.'],
]);

/**
 * Registers `/members/:username`, and `/members/:username/test` of the test mode
 * (docs/concepts/subscriptions.md#the-member-page): sign-in by an emailed link, then subscriptions, card,
 * receipts and watchable content. GET requests change nothing.
 */
export function memberPages(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) =>
        sendFailure(deps.assets, error, reply, views.errorPage),
      );
      for (const mode of ['live', 'test'] as const) {
        const base = `/members/:username${mode === 'test' ? '/test' : ''}`;
        const creatorOf = ({ params }: PageRequest) => deps.members.creatorOf(params.username, mode);
        linkPages(scope, deps, base, creatorOf);
        formPages(scope, deps, base, creatorOf);
      }
    });
  };
}

type CreatorOf = (request: PageRequest) => Promise<Creator | null>;

/** Registers the page and its sign-in. */
function linkPages(app: FastifyInstance, deps: Deps, base: string, creatorOf: CreatorOf): void {
  const { members, cookie, assets, counters } = deps;
  app.get(base, async (request: PageRequest, reply) => {
    const creator = await creatorOf(request);
    if (creator === null) return sendPage(reply, assets, views.notFoundPage());
    const member = await members.memberBy(creator, request.headers.cookie);
    if (member === null) return sendPage(reply, assets, views.requestPage(creator));
    const text = DONE.get(formField(request.query, 'done'));
    const news = text === undefined ? null : { text, isProblem: false };
    return sendPage(reply, assets, await renderMemberPage(deps, request, { creator, member, news }));
  });
  app.post(`${base}/link`, async (request: PageRequest, reply) => {
    await limitByIp({ counters }, LINK_CAP, request.ip);
    const creator = await creatorOf(request);
    if (creator !== null) await members.requestLink(creator, formField(request.body, 'email'));
    return sendPage(reply, assets, creator === null ? views.notFoundPage() : views.requestedPage());
  });
  app.get(`${base}/enter`, async (request: PageRequest, reply) => {
    const creator = await creatorOf(request);
    if (creator === null) return sendPage(reply, assets, views.notFoundPage());
    const token = formField(request.query, 'token');
    const isGood = await members.isLinkGood(creator, token);
    return sendPage(reply, assets, isGood ? views.enterPage(creator, token) : views.expiredPage(creator));
  });
  app.post(`${base}/enter`, async (request: PageRequest, reply) => {
    const creator = await creatorOf(request);
    const value = creator && (await members.enter(creator, formField(request.body, 'token')));
    if (creator === null) return sendPage(reply, assets, views.notFoundPage());
    if (value === null) return sendPage(reply, assets, views.expiredPage(creator));
    reply.header('Set-Cookie', cookie.keep(creator.workspaceId, value));
    return reply.redirect(memberPath(creator), 303);
  });
}

/** Sender of a form. */
interface Sender {
  creator: Creator;
  member: Member;
  request: PageRequest;
}

/**
 * Action of a form.
 *
 * @returns the URL to which the member is redirected; null: back to the page.
 */
type Act = (deps: Deps, sender: Sender) => Promise<string | null>;

const ACTS: Readonly<Record<string, Act>> = {
  async cancel({ subscriptions }, sender) {
    const id = await ownSubscription(subscriptions, sender);
    const how = { atPeriodEnd: true, by: 'MEMBER_CANCELED' } as const;
    await subscriptions.cancel(sender.creator.workspaceId, id, how);
    return null;
  },
  async resume({ subscriptions }, sender) {
    const id = await ownSubscription(subscriptions, sender);
    await subscriptions.resume(sender.creator.workspaceId, id);
    return null;
  },
  async switch({ subscriptions }, sender) {
    const id = await ownSubscription(subscriptions, sender);
    const tierId = formField(sender.request.body, 'tier');
    await subscriptions.switchTier(sender.creator.workspaceId, id, { tierId, by: 'MEMBER' });
    return null;
  },
  async pay({ subscriptions, publicUrl }, sender) {
    const { creator } = sender;
    const id = await ownSubscription(subscriptions, sender);
    const returnUrl = `${publicUrl}${memberPath(creator)}?done=pay`;
    const card = cardOf(sender);
    return subscriptions.renewals.payNow(creator.workspaceId, id, { returnUrl, card });
  },
  async card({ cards, subscriptions, publicUrl }, sender) {
    const { creator, member } = sender;
    const returnUrl = `${publicUrl}${memberPath(creator)}?done=card`;
    const given = await cards.collect(member.id, { card: cardOf(sender), checkoutId: null, returnUrl });
    if ('url' in given) return given.url;
    await subscriptions.saveCard(member.id, given.method);
    return null;
  },
  async use({ subscriptions }, sender) {
    const id = await ownSubscription(subscriptions, sender);
    await subscriptions.useSavedCard(sender.creator.workspaceId, id);
    return null;
  },
};

/** Returns the number of a typed test card. */
function cardOf({ request }: Sender): string | null {
  const card = formField(request.body, 'card').replace(/[\s-]/g, '');
  return card === '' ? null : card;
}

/**
 * Returns the ID in the form, of a subscription of the member.
 *
 * @throws {AppError} NOT_FOUND.
 */
async function ownSubscription(
  subscriptions: Pick<Subscriptions, 'listOfCustomer'>,
  { member, request }: Sender,
): Promise<string> {
  const id = formField(request.body, 'subscription');
  const own = await subscriptions.listOfCustomer(member.id);
  if (!own.some((row) => row.id === id)) throw new AppError('NOT_FOUND');
  return id;
}

function formPages(app: FastifyInstance, deps: Deps, base: string, creatorOf: CreatorOf): void {
  const { members, cookie, assets, secrets, counters } = deps;
  /** Returns the member who sent the form; null for anyone else. */
  const senderOf = async (request: PageRequest): Promise<Sender | null> => {
    const creator = await creatorOf(request);
    const member = creator && (await members.memberBy(creator, request.headers.cookie));
    if (creator === null || member === null) return null;
    const isOwn = secrets.verify(
      FORM_PURPOSE,
      boundTo(cookie, creator, request),
      formField(request.body, 'formToken'),
    );
    return isOwn ? { creator, member, request } : null;
  };
  for (const [name, act] of Object.entries(ACTS)) {
    app.post(`${base}/${name}`, async (request: PageRequest, reply) => {
      await limitByIp({ counters }, FORMS, request.ip);
      const sender = await senderOf(request);
      if (sender === null) return toStart(request, reply);
      try {
        const url = await act(deps, sender);
        return reply.redirect(url ?? `${memberPath(sender.creator)}?done=${name}`, 303);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const news = { text: error.message, isProblem: true };
        return sendPage(
          reply,
          assets,
          await renderMemberPage(deps, request, { ...sender, news }, error.status),
        );
      }
    });
  }
  app.post(`${base}/leave`, async (request: PageRequest, reply) => {
    const sender = await senderOf(request);
    if (sender === null) return toStart(request, reply);
    await members.leave(sender.creator, request.headers.cookie);
    reply.header('Set-Cookie', cookie.drop(sender.creator.workspaceId));
    return reply.redirect(memberPath(sender.creator), 303);
  });
}

/**
 * Redirects to the start page, which shows the current state: the session may have ended or been replaced in
 * another tab.
 */
function toStart({ url }: PageRequest, reply: FastifyReply): FastifyReply {
  return reply.redirect(url.replace(/[?#].*$/, '').replace(/\/[a-z]+$/, ''), 303);
}

async function renderMemberPage(
  { members, subscriptions, cards, cookie, secrets }: Deps,
  request: PageRequest,
  { creator, member, news }: { creator: Creator; member: Member; news: views.MemberView['news'] },
  status = 200,
): Promise<Page> {
  const [own, tiers, receipts, watchable, isSandbox] = await Promise.all([
    subscriptions.listOfCustomer(member.id),
    members.tiers(creator),
    members.receipts(member),
    members.watchable(creator, member),
    cards.isSandbox(creator.workspaceId),
  ]);
  const formToken = secrets.sign(FORM_PURPOSE, boundTo(cookie, creator, request));
  const view = {
    creator,
    member,
    formToken,
    subscriptions: own,
    tiers,
    receipts,
    watchable,
    providerPages: isSandbox ? [] : [cards.providerPages],
    news,
  };
  return views.memberPage(view, status);
}

/** Returns the binding of a form token: forms are valid only in the session that displayed them. */
function boundTo(cookie: MemberCookie, { workspaceId }: Creator, { headers }: PageRequest): string {
  return cookie.read(headers.cookie, workspaceId)?.toString('hex') ?? '';
}
