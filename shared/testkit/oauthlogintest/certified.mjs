// oidc-provider, a certified implementation of OpenID Connect, with the people of package signintest.
// usage: node --input-type=module - PORT CLIENT_ID SECRET REDIRECT_URI < certified.mjs
import { Provider } from 'oidc-provider';

const [port, client_id, client_secret, redirect_uri] = process.argv.slice(2);
const person = (id) => id === 'mallory'
  ? { email: 'alice@example.com', email_verified: false, name: id }
  : { email: `${id}@example.com`, email_verified: true, name: id };

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id, client_secret, redirect_uris: [redirect_uri], response_types: ['code'], grant_types: ['authorization_code', 'refresh_token'] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: false, // as Google: the address stands in the ID token
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...person(id) }) }),
  features: { devInteractions: { enabled: true } }, // its own pages to log in and to consent
  pkce: { required: () => true },
  cookies: { keys: ['of the tests'] },
});
provider.listen(Number(port), '127.0.0.1');
