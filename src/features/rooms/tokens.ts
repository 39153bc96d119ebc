import Type, { type Static } from 'typebox';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { compileSchema } from '../../platform/schema-validator.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { signToken, verifyToken } from '../../platform/signed-token.ts';

const Permission = Type.Optional(Type.Boolean());
const Grant = Type.Object({
  identity: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  role: Type.Union([Type.Literal('HOST'), Type.Literal('SPEAKER'), Type.Literal('VIEWER')]),
  /** Differences from the default permissions of the room. */
  permissions: Type.Object({
    canPublish: Permission,
    canSubscribe: Permission,
    canPublishData: Permission,
    canScreenShare: Permission,
  }),
  /**
   * True for tokens of the join page: a guest waits until a host admits them, and connects only from pages of
   * the platform.
   */
  isGuest: Type.Boolean(),
});
/** Person and role that a token admits to a room. */
export type RoomGrant = Static<typeof Grant>;
const payload = compileSchema(Type.Object({ expiresSec: Type.Integer(), grant: Grant }));

/** Tokens for rooms. They are signed, not stored: revocations are in the rows of the room. */
export interface RoomTokens {
  mint(roomId: string, grant: RoomGrant, ttlSec: number): { token: string; expiresAt: Date };
  /** Returns the grant; `expired` for an expired token of this room, null for anything else. */
  read(token: string, roomId: string): RoomGrant | 'expired' | null;
  /** Creates a token that returns a connection to its seat. */
  mintResume(roomId: string, participantId: string): string;
  /** @returns the ID of the participant; null when the token is invalid for this room. */
  readResume(token: string, roomId: string): string | null;
}

const JOIN = 'room token';
const RESUME = 'room resume';
/** Maximum length of a token: an identity and a name in any script. */
const MAX_LENGTH = 4096;

export function createRoomTokens({ secrets, clock }: { secrets: Secrets; clock: Clock }): RoomTokens {
  return {
    mint(roomId, grant, ttlSec) {
      const expiresSec = Math.floor(clock.ms() / 1000) + ttlSec;
      const text = JSON.stringify({ expiresSec, grant });
      const token = signToken(secrets, JOIN, { head: Buffer.from(text).toString('base64url'), of: roomId });
      return { token, expiresAt: dateFromMs(expiresSec * 1000) };
    },
    read(token, roomId) {
      const head = token.length > MAX_LENGTH ? null : verifyToken(secrets, JOIN, { text: token, of: roomId });
      if (head === null) return null;
      const said: unknown = JSON.parse(Buffer.from(head, 'base64url').toString());
      // An earlier version may have signed a different payload.
      if (!payload.matches(said)) return null;
      return said.expiresSec * 1000 <= clock.ms() ? 'expired' : said.grant;
    },
    mintResume: (roomId, participantId) => signToken(secrets, RESUME, { head: participantId, of: roomId }),
    readResume: (token, roomId) =>
      token.length > MAX_LENGTH ? null : verifyToken(secrets, RESUME, { text: token, of: roomId }),
  };
}
