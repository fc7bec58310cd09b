import { ROOT } from "../setup.js";

/** Where the phrases lie, a file for each intent. */
export const PHRASES_FOLDER = `${ROOT}packages/brain/src/models/offline/phrases/`;
