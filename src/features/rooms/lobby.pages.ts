import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../http/assets.ts';
import { type Page, sendPage } from '../../http/page.ts';
import { ENDED_ROOM, lobbyView, MISSING_ROOM } from './lobby.views.ts';
import type { Rooms } from './service.ts';

interface Deps {
  rooms: Pick<Rooms, 'face'>;
  assets: WebAssets;
  /** URL without a trailing slash. */
  publicUrl: string;
  /**
   * Origin of the media server that browsers connect to directly (`wss://…`); empty when they only connect to
   * this server.
   */
  connectOrigins: readonly string[];
}

type JoinRequest = FastifyRequest<{ Params: { roomId: string } }>;

const CARD = 'site/card.png';

/**
 * Registers `GET /r/:roomId`, the page on which people join a room. It shows nothing that requires admission.
 * A token comes in the fragment (`#token=…`), which no browser sends and no log contains.
 */
export function lobbyPage(deps: Deps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/r/:roomId', async ({ params }: JoinRequest, reply: FastifyReply) => {
      return sendPage(reply, deps.assets, await pageOf(deps, params.roomId));
    });
  };
}

async function pageOf({ rooms, assets, publicUrl, connectOrigins }: Deps, roomId: string): Promise<Page> {
  const room = await rooms.face(roomId);
  if (room === undefined) return MISSING_ROOM;
  if (room.isEnded) return ENDED_ROOM;
  const card = assets.url(CARD);
  return lobbyView({
    roomId,
    creator: room.creator,
    recordEnabled: room.recordEnabled,
    isBroadcast: room.isBroadcast,
    joinUrl: `${publicUrl}/r/${encodeURIComponent(roomId)}`,
    pictureUrl: card === null ? null : publicUrl + card,
    connectOrigins,
  });
}
