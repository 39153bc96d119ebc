import { readError } from './api-error.ts';
import { dataOf, request } from './request.ts';
import type { Shape } from './shape.ts';
import { Store, useStore } from './store.ts';

/** Session as `GET /auth/session` returns it. */
export type Session = Shape<'CurrentSession'>;
export type RegistrationTerms = Shape<'RegistrationTerms'>;

const store = new Store<Session | null>(null);

export function currentSession(): Session | null {
  return store.get();
}

export function useSession(): Session | null {
  return useStore(store);
}

/** Returns the session on pages that require one. @throws {Error} on other pages. */
export function useSignedIn(): Session {
  const session = useStore(store);
  if (session === null) throw new Error('this page needs a session');
  return session;
}

/**
 * Loads the session and stores it. @returns null when no user is signed in. @throws {ApiError} when the API
 * is unavailable.
 */
export async function loadSession(): Promise<Session | null> {
  const session = await askSession();
  store.set(session);
  return session;
}

/** Loads the session, and stores it only if its user is that of the page. */
export async function renewSession(): Promise<Session | null> {
  const session = await askSession();
  if (session !== null && session.user.id === store.get()?.user.id) store.set(session);
  return session;
}

async function askSession(): Promise<Session | null> {
  const response = await call('GET', '/auth/session');
  if (response.status !== 401) return dataOf(response);
  // An unread body keeps the request open.
  await response.text();
  return null;
}

/** @throws {ApiError} INVALID_CREDENTIALS; SECOND_FACTOR_REQUIRED, whose `details.challengeId` goes to `enterCode`. */
export async function signIn(email: string, password: string): Promise<void> {
  store.set(await dataOf(await call('POST', '/auth/session', { email, password })));
}

/** The code of an app, or a recovery code. */
export async function enterCode(challengeId: string, code: string): Promise<void> {
  store.set(await dataOf(await call('POST', '/auth/session/2fa', { challengeId, code })));
}

export async function register(registration: Shape<'SessionRegister'>): Promise<void> {
  store.set(await dataOf(await call('POST', '/auth/session/register', registration)));
}

export async function signOut(): Promise<void> {
  const response = await call('DELETE', '/auth/session');
  // A missing session means that the user is signed out already.
  if (!response.ok && response.status !== 401) throw await readError(response);
}

/** Confirms the password for actions that require a recent confirmation. */
export async function confirmPassword(password: string): Promise<void> {
  await dataOf(await call('POST', '/auth/session/password', { password }));
}

/** Sends the verification email again. */
export async function resendVerification(): Promise<void> {
  await dataOf(await call('POST', '/auth/session/verification'));
}

/** Loads the registration terms: open to all, by invitation, or closed. */
export async function loadRegistration(): Promise<RegistrationTerms> {
  return dataOf(await call('GET', '/auth/registration'));
}

function call(method: string, path: string, body?: object): Promise<Response> {
  return request(method, path, { csrfToken: store.get()?.csrfToken ?? null, body });
}
