// What is asked and answered, by the names that this page has for it. The types themselves are in
// openapi.ts, which `npm run types` makes from openapi.json, and that is made from the server's
// types: nothing here says again what a field is.
//
// Absolute times (`*_ns`, said to be UTC) are nanoseconds since 1970; a browser's numbers round them to
// 256 ns, which is good enough to select by. What has to be exact is relative. Durations are nanoseconds.

import type { components, operations, paths } from './openapi';

type Schemas = components['schemas'];

/** The selection of the views: the parameters that every question about chains takes. */
export type Selection = Omit<NonNullable<operations['graph']['parameters']['query']>, 'question'>;

export type Status = Schemas['Status'];
export type Progress = Schemas['QuestionProgress'];
export type Distribution = Schemas['DistributionView'];

export type Now = Schemas['Now'];
export type LimitState = Schemas['LimitState'];
export type LimitReport = Schemas['LimitReport'];
export type Alarm = Schemas['Alarm'];
export type Paths = Schemas['Paths'];
export type PathSummary = Schemas['PathSummary'];
export type Scatter = Schemas['Scatter'];
export type HistogramAnswer = Schemas['HistogramAnswer'];
export type Verdict = Schemas['VerdictView'];
export type Arrivals = Schemas['ArrivalsAnswer'];
export type Chains = Schemas['Chains'];
export type Hops = Schemas['Hops'];
export type Chain = Schemas['Chain'];
export type Graph = Schemas['Graph'];
export type Compare = Schemas['Compare'];
export type AttributeContrast = Schemas['ContrastView'];
export type Worst = Schemas['Worst'];
export type Marks = Schemas['Marks'];
export type NamedViews = Schemas['NamedViews'];
export type Versions = Schemas['Versions'];
export type Groups = Schemas['GroupsAnswer'];
export type ManagedData = Schemas['ManagedData'];
export type RangeContent = Schemas['ContentView'];
export type Deleted = Schemas['DeletedView'];
export type Imported = Schemas['Imported'];
export type Rings = Schemas['Rings'];
export type Ring = Schemas['RingContent'];
export type Hosts = Schemas['Hosts'];
export type Cell = Schemas['Cell'];
export type Runs = Schemas['Runs'];
export type RunHistory = Schemas['RunHistory'];
export type RunDiff = Schemas['RunDiff'];
export type Flame = Schemas['Flame'];
export type RunFunction = Schemas['RunFunction'];

/** `/chains/{chain}` as it is asked, below the API's root: `chains/…`. */
type Filled<P extends string> = P extends `/${infer Rest}` ? Filled<Rest>
  : P extends `${infer Before}{${string}}${infer After}` ? `${Before}${string}${After}` : P;

type Gets = { [P in keyof paths as Filled<P>]: paths[P]['get'] };

/** Every path that can be asked. */
export type Path = keyof Gets;

/** The type of a path's answer. */
export type AnswerOf<P extends Path> =
  Gets[P] extends { responses: { 200: { content: { 'application/json': infer Answer } } } } ? Answer : never;

/** The names of a path's parameters in the query; never where it has none. */
type ParamOf<P extends Path> = Gets[P] extends { parameters: { query?: infer Query } }
  ? [Query] extends [undefined] ? never : keyof NonNullable<Query> : never;

/** Paths whose questions may be given a name, to be followed by. */
export type Named = { [P in Path]: 'question' extends ParamOf<P> ? P : never }[Path];

/** Parameters of a question; what is undefined is left out. */
export type Params<P extends Path> = readonly (readonly [ParamOf<P>, string | number | undefined])[];
