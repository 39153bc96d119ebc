import type { Tx } from '../../../platform/db/index.ts';
import type { Sessions } from './sessions.service.ts';
import type { UserTokens } from './tokens.service.ts';

/** What acts, and so outlives the other sign-ins of the account. */
export interface KeptCredential {
  tokenId: string | null;
  sessionId: string | null;
}

/** The same, and where the request comes from. */
export interface Acting extends KeptCredential {
  ip: string;
}

export const KEEP_NOTHING: KeptCredential = { tokenId: null, sessionId: null };

/** Everything by which a person is signed in: user tokens and sessions. */
export interface SignInRevocation {
  /** Call `forget` after the commit. */
  endAll(tx: Tx, accountId: string, keep: KeptCredential): Promise<void>;
  forget(): void;
}

interface Deps {
  tokens: Pick<UserTokens, 'endAll' | 'forget'>;
  sessions: Pick<Sessions, 'endAll' | 'forget'>;
}

export function createSignIns({ tokens, sessions }: Deps): SignInRevocation {
  return {
    async endAll(tx, accountId, { tokenId, sessionId }) {
      await tokens.endAll(tx, accountId, tokenId);
      await sessions.endAll(tx, accountId, sessionId);
    },
    forget() {
      tokens.forget();
      sessions.forget();
    },
  };
}
