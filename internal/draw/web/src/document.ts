// What is embedded in the page: columns of a drawing, made by payload.go beside this
// directory, and the plan as `-o json --steps` prints it.
import { unpack, type Packed } from "./packed.ts";

export interface Ref {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  uid: string;
}

export interface Effect {
  object: Ref;
  outcome: string;
  reason: string;
  because?: Ref[];
  blockedBy?: { finalizers?: string[]; dependents?: Ref[]; conditions?: string[]; node?: string };
  removedReferences?: Ref[];
  alreadyHappening?: boolean;
  dependsOnTiming?: boolean;
  assumptions?: string[];
  recreator?: string;
  recreatedBy?: Ref;
  message: string;
}

export interface Step {
  n: number;
  actor: string;
  verb: string;
  object: Ref;
  policy?: string;
  reason: string;
  cause?: number;
  patch?: string;
  answer?: number;
  waits?: string;
}

export interface Plan {
  effects: Effect[] | null;
  steps: Step[] | null;
}

/** named puts the whole reference wherever a plan has only a uid, which leads to an effect. */
function named(plan: Plan): void {
  const whole = new Map((plan.effects ?? []).map(({ object }) => [object.uid, object]));
  const name = (ref: Ref) => (ref.kind === undefined ? (whole.get(ref.uid) ?? ref) : ref);
  for (const effect of plan.effects ?? []) {
    effect.because = effect.because?.map(name);
    effect.removedReferences = effect.removedReferences?.map(name);
    effect.recreatedBy &&= name(effect.recreatedBy);
    if (effect.blockedBy) effect.blockedBy.dependents = effect.blockedBy.dependents?.map(name);
  }
  for (const step of plan.steps ?? []) step.object = name(step.object);
}

/** What an explanation says beside its drawing, in sentences. */
export interface Explained {
  /** object is the number of the one that is explained. */
  object: number;
  waitsFor: string[];
  takenBy: string[];
  takersUntried?: number;
  remedies: { command: string; effect: string }[];
}

export interface Kind {
  apiVersion: string;
  kind: string;
  /** type is the kind as kubectl takes it: deployment.apps. */
  type: string;
}

export interface Payload {
  title: string;
  /** source is what the drawing was made from, in words. */
  source: string;
  width: number;
  height: number;
  /** from are the arguments by which a command reads the same dump; absent for a cluster. */
  from?: string[];
  kinds: Kind[];
  namespaces: string[];
  looks: string[];
  areas: { namespace: number; rect: [number, number, number, number] }[];
  boxes: {
    /** rects has x, y, width and height of each box, one after the other. */
    rects: number[];
    kind: number[];
    namespace: number[];
    look: number[];
    /** state is the look that the object has before anything happens. */
    state: number[];
    name: string[];
    uid: string[];
    targets?: number[];
    /** pile is the group that an object is in until it is opened, or -1. */
    pile?: number[];
    /** data are the objects with data that go, or may go: what is hardest to get back comes first. */
    data?: number[];
    /** quiet are Events and what controllers make by themselves: they are hidden until somebody asks. */
    quiet?: number[];
    note?: Record<string, string>;
    why?: Record<string, string>;
    finalizers?: Record<string, string[]>;
  };
  arrows: {
    owner: number[];
    dependent: number[];
    /** flags: 1 controller, 2 blocks, 4 removed by the plan. */
    flags: number[];
    class: number[];
    /** paths has x and y of all points of all arrows, bends the number of points of each. */
    paths: number[];
    bends: number[];
  };
  classes: string[];
  legend: { look: number; words: string; count: number }[];
  /** elsewhere are the groups of objects in several namespaces. */
  elsewhere?: number[];
  /** counted are the objects that stand for more which are not in the page, with how many are below these; left says so in words. */
  counted?: Record<string, { objects: number; below?: number; words?: string }>;
  left?: string;
  plan?: Plan;
  explained?: Explained;
  /** sentences says what the reasons of the plan mean. */
  sentences: Record<string, string>;
}

/** payload reads what is embedded. */
export async function payload(): Promise<Payload> {
  const read = await embedded();
  if (read.plan) named(read.plan);
  return read;
}

/** embedded is it as it is; large ones are compressed. */
async function embedded(): Promise<Payload> {
  const plain = document.getElementById("data");
  if (plain) return JSON.parse(plain.textContent ?? "") as Payload;
  const packed = atob(JSON.parse(document.getElementById("packed-data")?.textContent ?? "") as string);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpack((await new Response(unpacked).json()) as Packed);
}
