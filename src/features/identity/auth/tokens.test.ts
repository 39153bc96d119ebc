import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertAccount, type TestAccount } from '../../../../test/harness/factories.ts';
import { warmPool } from '../../../../test/harness/warm-pool.ts';
import { createLogger } from '../../../platform/logger.ts';
import { createSecrets } from '../../../platform/secrets.ts';
import * as credentials from '../accounts/credentials.repository.ts';
import { createUserTokens } from './tokens.service.ts';

const ISSUER = 'http://marquee.test';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const secrets = createSecrets(Buffer.alloc(32, 9));

let database: TestDatabase;
let account: TestAccount;
const clock = new TestClock();

before(async () => {
  database = await createTestDatabase();
  account = await insertAccount(database.db);
});
after(() => database.close());

/** Creates a node that shares only the database with the others. */
function node(options: { secretKey?: Buffer; issuer?: string } = {}) {
  return createUserTokens({
    credentials,
    db: database.db,
    secrets: options.secretKey === undefined ? secrets : createSecrets(options.secretKey),
    clock,
    bus: { publish: () => {}, subscribe: () => () => {} },
    onAccountsChanged: () => {},
    log: createLogger('silent'),
    issuer: options.issuer ?? ISSUER,
  });
}

function issue(tokens = node(), epoch = 0) {
  return tokens.issue({ id: account.id, token_epoch: epoch });
}

/** Returns the signing key, which only the server can read. */
async function signingKey() {
  const row = await database.db
    .selectFrom('signing_key')
    .selectAll()
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
  return { kid: row.kid, privateKey: createPrivateKey(secrets.decrypt(row.private_key, row.kid)) };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a user token', () => {
  it('a user token names the account, lasts an hour, and is valid on every node', async () => {
    const { accessToken, expiresIn } = await issue();
    assert.equal(expiresIn, 3600);
    const claims = decodeJwt(accessToken);
    assert.equal(claims.sub, account.id);
    assert.equal(claims.iss, ISSUER);
    assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 3600);
    assert.equal(claims.iat, clock.ms() / 1000);
    assert.equal((await node().verify(accessToken))?.accountId, account.id);
  });

  it('a user token expires with its last second', async () => {
    const tokens = node();
    const { accessToken } = await issue(tokens);
    clock.advance(HOUR_MS - 1000);
    assert.equal((await tokens.verify(accessToken))?.accountId, account.id);
    clock.advance(1000);
    assert.equal(await tokens.verify(accessToken), null);
  });

  it('a user token is void after a change of password', async () => {
    const tokens = node();
    const { accessToken } = await issue(tokens);
    const epoch = (value: number) =>
      database.db.updateTable('account').set({ token_epoch: value }).where('id', '=', account.id).execute();
    await epoch(1);
    assert.equal(await tokens.verify(accessToken), null);
    assert.equal((await tokens.verify((await issue(tokens, 1)).accessToken))?.accountId, account.id);
    await epoch(0);
  });

  it('a user token of a deleted account is void', async () => {
    const gone = await insertAccount(database.db);
    const tokens = node();
    const { accessToken } = await tokens.issue({ id: gone.id, token_epoch: 0 });
    await database.db.deleteFrom('account').where('id', '=', gone.id).execute();
    assert.equal(await tokens.verify(accessToken), null);
  });

  it('a user token of another platform is void', async () => {
    const { accessToken } = await issue(node({ issuer: 'http://other.test' }));
    assert.equal(await node().verify(accessToken), null);
  });
});

describe('a forged token', () => {
  let jti = '';
  before(async () => {
    jti = decodeJwt((await issue()).accessToken).jti ?? '';
  });
  const claims = () => ({
    jti,
    sub: account.id,
    iss: ISSUER,
    aud: 'marquee:user',
    iat: clock.ms() / 1000,
    exp: clock.ms() / 1000 + 600,
    epoch: 0,
  });
  const signed = (header: object, payload: object, key: Parameters<typeof sign>[2]) => {
    const text = `${encode(header)}.${encode(payload)}`;
    return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
  };

  it('a token signed by the real key is accepted: the forgeries below differ from it in one respect', async () => {
    const tokens = node();
    await issue(tokens);
    const { kid, privateKey } = await signingKey();
    assert.equal(
      (await tokens.verify(signed({ alg: 'EdDSA', kid }, claims(), privateKey)))?.accountId,
      account.id,
    );
  });

  it('a token with a changed payload or signature is rejected', async () => {
    const tokens = node();
    const other = await insertAccount(database.db);
    const [header = '', payload = '', signature = ''] = (await issue(tokens)).accessToken.split('.');
    const changed = encode({ ...claims(), sub: other.id });
    assert.equal(await tokens.verify(`${header}.${changed}.${signature}`), null);
    const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
    assert.equal(await tokens.verify(`${header}.${payload}.${flipped}`), null);
    assert.equal(await tokens.verify(`${header}.${payload}.`), null);
    assert.equal(await tokens.verify(`${header}.${payload}`), null);
  });

  it('a token without an algorithm is rejected in every spelling', async () => {
    const tokens = node();
    await issue(tokens);
    const { kid } = await signingKey();
    for (const alg of ['none', 'None', 'NONE', '', null, undefined]) {
      const token = `${encode({ alg, kid })}.${encode(claims())}.`;
      assert.equal(await tokens.verify(token), null, String(alg));
    }
  });

  it('a token with an HMAC keyed by the public key is rejected', async () => {
    const tokens = node();
    await issue(tokens);
    const { kid, privateKey } = await signingKey();
    const publicKey = createPublicKey(privateKey);
    const forms = [
      publicKey.export({ type: 'spki', format: 'pem' }),
      publicKey.export({ type: 'spki', format: 'der' }),
      Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url'),
    ];
    for (const form of forms) {
      for (const alg of ['HS256', 'HS512']) {
        const secret = Buffer.from(form);
        const token = await new SignJWT(claims())
          .setProtectedHeader({ alg, kid })
          .sign(new Uint8Array(Buffer.concat([secret, Buffer.alloc(Math.max(0, 64 - secret.length))])));
        assert.equal(await tokens.verify(token), null, alg);
      }
    }
  });

  it('a token that brings its own key is rejected, however the key is provided', async () => {
    const tokens = node();
    await issue(tokens);
    const { kid } = await signingKey();
    const own = generateKeyPairSync('ed25519');
    const jwk = own.publicKey.export({ format: 'jwk' });
    const headers = [
      { alg: 'EdDSA', kid },
      { alg: 'EdDSA', kid: 'unknown' },
      { alg: 'EdDSA' },
      { alg: 'EdDSA', kid: '../../etc/passwd' },
      { alg: 'EdDSA', kid: "' or 1=1 --" },
      { alg: 'EdDSA', kid: 5 },
      { alg: 'EdDSA', kid, jwk },
      { alg: 'EdDSA', jwk },
      { alg: 'EdDSA', kid, jku: 'http://127.0.0.1:1/keys' },
      { alg: 'EdDSA', kid, crit: ['x'], x: 1 },
    ];
    for (const header of headers) {
      const token = signed(header, claims(), own.privateKey);
      assert.equal(await tokens.verify(token), null, JSON.stringify(header));
    }
  });

  it('a token for another audience, or without an expiry, an account or an ID, is rejected', async () => {
    const tokens = node();
    await issue(tokens);
    const { kid, privateKey } = await signingKey();
    const { exp, sub, epoch, aud, iss, ...rest } = claims();
    const { jti: _, ...nameless } = claims();
    const payloads = [
      { ...rest, sub, epoch, aud, iss },
      { ...rest, exp, epoch, aud, iss },
      { ...rest, exp, sub, aud, iss },
      { ...rest, exp, sub, epoch, iss },
      { ...rest, exp, sub, epoch, aud },
      nameless,
      { ...claims(), jti: 'another' },
      { ...claims(), aud: 'other' },
      { ...claims(), epoch: '0' },
      { ...claims(), sub: 5 },
      { ...claims(), nbf: exp },
      { ...claims(), exp: 'never' },
    ];
    for (const payload of payloads) {
      const token = signed({ alg: 'EdDSA', kid }, payload, privateKey);
      assert.equal(await tokens.verify(token), null, JSON.stringify(payload));
    }
  });
});

describe('the key set', () => {
  const kids = async () => {
    const rows = await database.db.selectFrom('signing_key').select('kid').orderBy('created_at').execute();
    return rows.map(({ kid }) => kid);
  };

  it('the key set holds one key when many nodes create the first concurrently', async () => {
    await database.db.deleteFrom('signing_key').execute();
    await warmPool(database.sql);
    const tokens = await Promise.all(Array.from({ length: 6 }, () => issue(node())));
    assert.equal((await kids()).length, 1);
    for (const { accessToken } of tokens)
      assert.equal((await node().verify(accessToken))?.accountId, account.id);
  });

  it('the key set stores private keys encrypted', async () => {
    await issue();
    const row = await database.db.selectFrom('signing_key').selectAll().executeTakeFirstOrThrow();
    assert.equal(Buffer.from(row.private_key).includes('PRIVATE KEY'), false);
  });

  it('the key set is unchanged until the newest key is 30 days old', async () => {
    const tokens = node();
    await issue(tokens);
    const before = await kids();
    clock.advance(29 * DAY_MS);
    await tokens.rotateKeys();
    assert.deepEqual(await kids(), before);
  });

  it('a rotation keeps old tokens valid until they expire, then deletes their key', async () => {
    const tokens = node();
    const other = node();
    await tokens.rotateKeys();
    const [first] = await kids();
    clock.advance(30 * DAY_MS);
    const old = await issue(tokens);
    await issue(other);
    await tokens.rotateKeys();
    const renewed = await issue(tokens);
    const kid = decodeProtectedHeader(renewed.accessToken).kid;
    assert.notEqual(kid, first);
    assert.deepEqual(await kids(), [first, kid]);
    // This node has not loaded the new key yet.
    assert.equal((await tokens.verify(old.accessToken))?.accountId, account.id);
    assert.equal((await node().verify(old.accessToken))?.accountId, account.id);
    assert.equal((await node().verify(renewed.accessToken))?.accountId, account.id);

    clock.advance(HOUR_MS - 1000);
    await tokens.rotateKeys();
    assert.equal((await node().verify(old.accessToken))?.accountId, account.id);
    clock.advance(10 * 60_000);
    await tokens.rotateKeys();
    assert.deepEqual(await kids(), [kid]);
    assert.equal((await kids()).length, 1);
  });

  it('sign-in continues with a new key after a change of SECRET_KEY', async () => {
    const { accessToken } = await issue();
    const changed = node({ secretKey: Buffer.alloc(32, 1) });
    assert.equal(await changed.verify(accessToken), null);
    const renewed = await issue(changed);
    assert.equal((await changed.verify(renewed.accessToken))?.accountId, account.id);
    await database.db.deleteFrom('signing_key').execute();
  });
});
