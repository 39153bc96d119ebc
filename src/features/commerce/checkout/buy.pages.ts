import formBody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { formField, rejectCrossSite, sendFailure } from '../../../http/forms.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { RequestCounters } from '../../../http/ports.ts';
import type { Limit } from '../../../http/route.ts';
import type { Mode } from '../../../kernel/access.ts';
import { notFound } from '../../../kernel/errors.ts';
import { errorPage } from './checkout.views.ts';
import type { Checkouts } from './service.ts';

/** A video or a stream whose watch page says what it costs. */
export interface PurchasableItem {
  workspaceId: string;
  mode: Mode;
  visibility: string;
  /** Those whose members may watch; none: those of any. */
  tierIds: readonly string[];
}

interface Deps {
  checkouts: Pick<Checkouts, 'createForTier' | 'createForVideo'>;
  /** Undefined where there is none that anybody may be told of. */
  offeredAt(id: string): Promise<PurchasableItem | undefined>;
  assets: WebAssets;
  counters: Pick<RequestCounters, 'window'>;
  /** Without a slash at the end. */
  publicUrl: string;
}

type Asked = FastifyRequest<{ Params: { id: string }; Body: unknown }>;

const FORM_BYTES = 4096;
const TRIES: Limit = { bucket: 'buy', per: 'ip', max: 60, windowSec: 600, refusal: 'RATE_LIMITED' };

/**
 * `POST /watch/:id/buy`, the form of a watch page: makes a checkout for what it offers and leads to its page
 * (docs/guides/money.md#the-watch-page). Whoever pays or cancels comes back to the watch page.
 */
export function buyPages(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    // A scope of its own: everywhere else bodies are JSON.
    app.register(async (scope) => {
      await scope.register(formBody, { bodyLimit: FORM_BYTES });
      scope.addHook('preHandler', rejectCrossSite);
      scope.setErrorHandler((error, _request, reply) => sendFailure(deps.assets, error, reply, errorPage));
      scope.post('/watch/:id/buy', (request: Asked, reply) => buy(deps, request, reply));
    });
  };
}

async function buy(deps: Deps, { params, body, ip }: Asked, reply: FastifyReply): Promise<FastifyReply> {
  await limitByIp({ counters: deps.counters }, TRIES, ip);
  const offered = await deps.offeredAt(params.id);
  if (offered === undefined) throw notFound();
  const { workspaceId, mode, visibility, tierIds } = offered;
  const page = `${deps.publicUrl}/watch/${params.id}`;
  const addresses = { successUrl: page, cancelUrl: page };
  const tierId = formField(body, 'tier');
  const caller = { workspaceId, mode };
  const isOffered = visibility === 'TIER' ? tierIds.length === 0 || tierIds.includes(tierId) : tierId === '';
  if (!isOffered) throw notFound();
  const { id } =
    visibility === 'TIER'
      ? await deps.checkouts.createForTier(caller, { ...addresses, tierId }, null)
      : await deps.checkouts.createForVideo(caller, { ...addresses, videoId: params.id });
  return reply.header('Cache-Control', 'no-store').redirect(`/checkout/${id}`, 303);
}
