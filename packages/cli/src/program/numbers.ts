import { InvalidArgumentError } from "commander";

/** A whole number from 1 up, as a word of the command line. */
export const count = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number === 0)
    throw new InvalidArgumentError("It must be a whole number from 1 up.");
  return number;
};

/** A whole number from 0 up. */
export const cursor = (text: string): number => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError("It must be a whole number from 0 up.");
  return number;
};

/** The number of a port; 0 picks a free one. */
export const port = (text: string): number => {
  const number = cursor(text);
  if (number > 65_535) throw new InvalidArgumentError("A port is at most 65535.");
  return number;
};

/** An amount of money above zero. */
export const amount = (text: string): number => {
  const number = Number(text);
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || number === 0)
    throw new InvalidArgumentError("It must be an amount above 0, such as 0.50.");
  return number;
};
