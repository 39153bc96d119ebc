import assert from 'node:assert/strict';
import type { TestApp } from '../harness/app.ts';
import { runTask } from '../harness/modules.ts';

/** Returns browser actions on the member page of a creator. @param base its path. */
export function memberPage(appOf: () => TestApp, base: () => string) {
  /** @param on node that receives the request. */
  const ask = (path: string, cookie = '', on = appOf()) =>
    fetch(`${on.url}${path}`, { headers: { cookie }, redirect: 'manual' });

  const submit = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${appOf().url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });

  /** Requests a link. @returns the token in the newest email. */
  async function linkFor(email: string): Promise<string> {
    const answer = await submit(`${base()}/link`, { email });
    assert.equal(answer.status, 200);
    const { container } = appOf();
    await runTask(container, 'member links');
    const mail = (await container.mailbox.list()).find(
      ({ to, kind }) => to === email && kind === 'member-link',
    );
    const { text } = mail === undefined ? { text: null } : await container.mailbox.get(mail.id);
    return /token=([\w-]{43})/.exec(text ?? '')?.[1] ?? '';
  }

  /** @returns the cookie. */
  async function enter(email: string): Promise<string> {
    const answer = await submit(`${base()}/enter`, { token: await linkFor(email) });
    assert.equal(answer.status, 303);
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  /** Returns the value of a hidden input on the page. */
  async function fieldOf(cookie: string, name: 'formToken' | 'subscription'): Promise<string> {
    const page = await (await ask(base(), cookie)).text();
    return new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
  }
  return {
    ask,
    submit,
    linkFor,
    enter,
    formTokenOf: (cookie: string) => fieldOf(cookie, 'formToken'),
    fieldOf,
  };
}
