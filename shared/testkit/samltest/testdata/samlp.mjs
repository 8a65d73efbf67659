// An identity provider made of npm samlp, which signs ada in without asking. PORT: where to listen; MODULES: a folder with
// node_modules; PEM: key and certificate. /<how>/metadata and /<how>/sso, where how says what is signed.
import { createRequire } from 'node:module';
import fs from 'node:fs';
const require = createRequire(process.env.MODULES + '/');
const express = require('express');
const samlp = require('samlp');

const pem = fs.readFileSync(process.env.PEM, 'utf8');
const part = (kind) => pem.match(new RegExp(`-----BEGIN ${kind}-----[^-]+-----END ${kind}-----\n`))[0];
const key = part('PRIVATE KEY');
const cert = part('CERTIFICATE');

const app = express();
const ways = {
  assertion: {},
  response: { signResponse: true, signAssertion: false },
  both: { signResponse: true },
  sha1: { signatureAlgorithm: 'rsa-sha1', digestAlgorithm: 'sha1' },
};
app.use((req, _res, next) => {
  const email = req.query.who || 'ada@example.com';
  req.user = { id: '4711', emails: [{ value: email }], displayName: 'Ada Lovelace', name: { familyName: 'Lovelace', givenName: 'Ada' } };
  next();
});
for (const [how, signed] of Object.entries(ways)) {
  const issuer = 'urn:samlp:' + how;
  app.get(`/${how}/metadata`, samlp.metadata({ issuer, cert, redirectEndpointPath: `/${how}/sso`, postEndpointPath: `/${how}/sso` }));
  app.get(`/${how}/sso`, (req, res, next) => {
    samlp.parseRequest(req, (err, request) => {
      if (err) return next(err);
      const acs = request.assertionConsumerServiceURL;
      samlp.auth({
        issuer, cert, key, signatureAlgorithm: 'rsa-sha256', digestAlgorithm: 'sha256', lifetimeInSeconds: 300,
        destination: acs, recipient: acs, getPostURL: (_audience, _dom, _req, done) => done(null, acs), ...signed,
      })(req, res, next);
    });
  });
}
app.listen(Number(process.env.PORT), '127.0.0.1');
