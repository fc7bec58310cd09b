import { Fault } from "@vidro/core";
import type { Route, Surface } from "./route.ts";

/** A route that matches a path, its surface, and the path's parameters. */
export interface RouteMatch {
  readonly surface: Surface;
  readonly route: Route;
  readonly params: { readonly [name: string]: string };
}

/** The routes of a path, one for each method. */
interface PathRoutes {
  /** For the `Allow` header. */
  readonly methods: readonly string[];
  /** The route of a method; HEAD has the route of GET. */
  route(method: string): RouteMatch | undefined;
}

interface RouteClaim {
  readonly surface: Surface;
  readonly route: Route;
  /** Names of the parameters, in the order of the path; routes of one path may name them differently. */
  readonly names: readonly string[];
}

/** A node of the tree of path segments. */
class PathNode {
  readonly fixed = new Map<string, PathNode>();
  readonly claims = new Map<string, RouteClaim>();
  any: PathNode | undefined;
}

/** Finds routes by their paths. */
export interface Router {
  /** The routes of a path; undefined where no surface has one. BAD_REQUEST for a broken percent-escape. */
  find(path: string): PathRoutes | undefined;
  /** The surface that words the faults of a path without a route: the first with a route of the same first segment. */
  surfaceFor(path: string): Surface;
}

/** A router over the routes of surfaces; the first surface is the default of `surfaceFor`. */
export function createRouter(surfaces: readonly [Surface, ...Surface[]]): Router {
  const root = new PathNode();
  const beginnings = new Map<string, Surface>();
  for (const surface of surfaces) {
    for (const route of surface.routes) {
      addRoute(root, surface, route);
      const [first = ""] = segmentsOf(route.path);
      if (!beginnings.has(first)) beginnings.set(first, surface);
    }
  }
  return {
    find(path) {
      const found = findNode(root, segmentsOf(path).map(decodeSegment), []);
      return found === undefined ? undefined : routesAt(found.junction, found.values);
    },
    surfaceFor: (path) => beginnings.get(segmentsOf(path)[0] ?? "") ?? surfaces[0],
  };
}

const PARAMETER = /^\{(\w+)\}$/;

function addRoute(root: PathNode, surface: Surface, route: Route): void {
  const names: string[] = [];
  let junction = root;
  for (const segment of segmentsOf(route.path)) {
    const name = PARAMETER.exec(segment)?.[1];
    let next = name === undefined ? junction.fixed.get(segment) : junction.any;
    if (next === undefined) {
      next = new PathNode();
      if (name === undefined) junction.fixed.set(segment, next);
      else junction.any = next;
    }
    if (name !== undefined) names.push(name);
    junction = next;
  }
  const owner = junction.claims.get(route.method)?.surface.name;
  if (owner !== undefined)
    throw new Error(`${route.method} ${route.path} belongs to both ${owner} and ${surface.name}`);
  junction.claims.set(route.method, { surface, route, names });
}

/**
 * Finds the node of a path. A fixed segment wins over a parameter; if it has no match further on, the parameter is
 * tried.
 */
function findNode(
  junction: PathNode,
  [segment, ...rest]: readonly string[],
  values: readonly string[],
): { readonly junction: PathNode; readonly values: readonly string[] } | undefined {
  if (segment === undefined) return junction.claims.size === 0 ? undefined : { junction, values };
  const fixed = junction.fixed.get(segment);
  const found = fixed === undefined ? undefined : findNode(fixed, rest, values);
  if (found !== undefined || junction.any === undefined || segment === "") return found;
  return findNode(junction.any, rest, [...values, segment]);
}

function routesAt(junction: PathNode, values: readonly string[]): PathRoutes {
  const methods = [...junction.claims.keys()];
  return {
    methods: [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"],
    route(method) {
      const found = junction.claims.get(method === "HEAD" ? "GET" : method);
      if (found === undefined) return undefined;
      const { surface, route, names } = found;
      return { surface, route, params: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""])) };
    },
  };
}

function segmentsOf(path: string): readonly string[] {
  return path.split("/").slice(1);
}

/** Decodes one segment; segments are split first, so that an escaped slash belongs to a value and not to the path. */
function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new Fault("BAD_REQUEST", "The path has a broken escape: % must be followed by two hex digits of UTF-8.", {
      cause,
    });
  }
}
