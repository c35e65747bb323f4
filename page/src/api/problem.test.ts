import { describe, expect, it } from 'vitest';
import { problemOf } from './problem';

describe('a refusal', () => {
  it('is repeated with what to do about it', () => {
    const problem = problemOf(400, { error: 'level “x” is not a number', hint: 'a number or any' });
    expect([problem.kind, problem.message, problem.hint]).toEqual(['refused', 'level “x” is not a number', 'a number or any']);
  });

  it('for want of the token, and a cancelled question, are known as such', () => {
    expect(problemOf(401, undefined).kind).toBe('token');
    expect(problemOf(403, { error: 'no' }).kind).toBe('token');
    expect(problemOf(409, { error: 'cancelled' }).kind).toBe('cancelled');
  });

  it.each([null, 'text', 7, [], { error: '' }, { error: 5 }, undefined])('with the body %j still says the status', (body) => {
    expect(problemOf(503, body).message).toBe('The server answered with status 503');
    expect(problemOf(503, body).hint).toContain('busy');
  });
});
