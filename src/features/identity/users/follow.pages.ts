import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { failurePage, formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import type { PageViewers } from '../../../http/page-viewer.ts';
import { limitByActor } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { RenderFollowBox } from '../../audience/playback/index.ts';
import { followView } from './follow.views.ts';
import type { Follows } from './follows.service.ts';
import { FOLLOW_CAP } from './routes.ts';

interface Forms {
  follows: Pick<Follows, 'isFollowing' | 'follow' | 'unfollow'>;
  visitors: PageViewers;
  secrets: Pick<Secrets, 'sign' | 'verify'>;
}

type Asked = FastifyRequest<{ Params: { username: string }; Body: unknown }>;

const FORM_BYTES = 4096;
const MISSING = {
  heading: 'Channel not found.',
  text: 'The URL may be mistyped, or the channel may have been deleted.',
};
const PURPOSE = 'follow form';
/** Pattern of pages with the form. */
const BACK = /^\/(?:@[a-z0-9_-]{1,64}|watch\/[a-z]{3}_[0-9a-z]{26})$/;

/** Creates the follow box of public pages. @param count returns the followers of a channel. */
export function createFollowBox({
  follows,
  visitors,
  secrets,
  count,
}: Forms & { count(workspaceId: string): Promise<number> }): RenderFollowBox {
  return async (asking, { accountId, workspaceId, username, name }, page) => {
    const [visitor, followers] = await Promise.all([visitors(asking), count(workspaceId)]);
    const sessionId = visitor?.sessionId ?? null;
    const isClosed = visitor !== null && (sessionId === null || visitor.accountId === accountId);
    const form =
      visitor === null || sessionId === null || isClosed
        ? null
        : {
            token: secrets.sign(PURPOSE, sessionId),
            isFollowing: await follows.isFollowing(workspaceId, visitor.accountId),
          };
    return followView({ creator: { username, name: name ?? username }, followers, form, isClosed, page });
  };
}

/** `POST /@:username/follow` and `/unfollow`, the forms of public pages (docs/concepts/users.md#follow-button). */
export function followPages(
  deps: Forms & { assets: WebAssets; counters: Pick<RequestCounters, 'window'> },
): (app: FastifyInstance) => void {
  return (app) => {
    // Separate scope, because all other bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('onRequest', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) =>
        sendFailure(deps.assets, error, reply, (failure) => failurePage(failure, MISSING)),
      );
      scope.post('/@:username/follow', async (request: Asked, reply) => {
        const accountId = await senderOf(deps, request);
        if (accountId === null) return toSignIn(request, reply);
        await deps.follows.follow({ accountId, mode: 'live' }, request.params.username);
        return reply.redirect(backOf(request), 303);
      });
      scope.post('/@:username/unfollow', async (request: Asked, reply) => {
        const accountId = await senderOf(deps, request);
        if (accountId === null) return toSignIn(request, reply);
        await deps.follows
          .unfollow({ accountId, mode: 'live' }, request.params.username)
          .catch(ignoreMissing);
        return reply.redirect(backOf(request), 303);
      });
    });
  };
}

/**
 * Returns the account that submits the form; null when it is signed out.
 *
 * @throws {AppError} CSRF_REJECTED for a form of another session; RATE_LIMITED.
 */
async function senderOf(
  { visitors, secrets, counters }: Pick<Forms, 'visitors' | 'secrets'> & Parameters<typeof limitByActor>[0],
  request: Asked,
): Promise<string | null> {
  const visitor = await visitors(request);
  if (visitor === null || visitor.sessionId === null) return null;
  if (!secrets.verify(PURPOSE, visitor.sessionId, formField(request.body, 'formToken'))) {
    throw new AppError('CSRF_REJECTED', { message: 'Reload the page and try again.' });
  }
  await limitByActor({ counters }, FOLLOW_CAP, visitor.sessionId);
  return visitor.accountId;
}

function backOf({ body, params }: Asked): string {
  const back = formField(body, 'back');
  return BACK.test(back) ? back : `/@${encodeURIComponent(params.username)}`;
}

function toSignIn(request: Asked, reply: FastifyReply): FastifyReply {
  return reply.redirect(`/dashboard/sign-in?back=${encodeURIComponent(backOf(request))}`, 303);
}

/** Ignores that no follow exists: there is nothing to end. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
}
