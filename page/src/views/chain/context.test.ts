import { describe, expect, it } from 'vitest';
import { contextOf, shownFirst } from './context';

const keys = (facts: readonly { readonly key: string }[]) => facts.map(({ key }) => key);
const SPAN = {
  properties: {
    'thread.name': 'http-nio-8080-exec-1', 'telemetry.sdk.version': '1.40.0', 'db.statement': 'select 1', 'http.route': '/cart',
    'messaging.system': 'kafka', 'exception.message': 'no route', 'http.request.method': 'GET', 'rpc.service': 'Cart', 'error.type': 'timeout', 'httpd': 'no',
  },
  metrics: { 'messaging.batch.message_count': 3, bytes: 7 },
};

describe('the context of a transaction', () => {
  it('begins with what failed and what was asked of whom', () => {
    expect(keys(contextOf(SPAN))).toEqual([
      'error.type', 'exception.message', 'messaging.batch.message_count', 'messaging.system', 'http.request.method', 'http.route', 'db.statement', 'rpc.service',
      'thread.name', 'telemetry.sdk.version', 'httpd', 'bytes',
    ]);
  });

  it('keeps what is not important behind a button', () => {
    expect(keys(shownFirst(contextOf(SPAN)))).toEqual(keys(contextOf(SPAN)).slice(0, 8));
  });

  it('shows everything where there is little, and the first few where no name is known', () => {
    const few = contextOf({ properties: { 'http.route': '/', sector: 'EDGG' }, metrics: {} });
    expect(shownFirst(few)).toEqual(few);
    const own = contextOf({ properties: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`own${n}`, 'x'])), metrics: {} });
    expect(keys(shownFirst(own))).toEqual(Array.from({ length: 8 }, (_, n) => `own${n}`));
    expect(shownFirst([])).toEqual([]);
  });
});
