import { expect, test } from "vitest";

import { Pinch, Wheel, middle } from "../src/picture/gestures";

const fingers = (width: number) => [{ x: 100, y: 50 }, { x: 100 + width, y: 50 }];

test("two fingers that come apart go nearer, level by level; together they go back", () => {
  const pinch = new Pinch();
  pinch.begin(fingers(100));
  expect([110, 130, 140, 150, 190, 180, 139, 100].map((width) => pinch.move(fingers(width)))).toEqual([0, 0, 1, 0, 1, 0, -1, -1]);
  expect(middle(fingers(100))).toEqual({ x: 150, y: 50 });
});

test("one finger, or three, are no pinch, and what comes next begins anew", () => {
  const pinch = new Pinch();
  pinch.begin(fingers(100).slice(1));
  expect(pinch.move(fingers(300))).toBe(0);
  pinch.begin([...fingers(100), { x: 0, y: 0 }]);
  expect(pinch.move(fingers(300))).toBe(0);
  pinch.begin(fingers(300));
  expect(pinch.move(fingers(310))).toBe(0);
});

test("a notch of a wheel is a level, in pixels and in lines", () => {
  const wheel = new Wheel();
  const turn = (deltaY: number, timeStamp: number, deltaMode = 0) => wheel.turn({ deltaY, deltaMode, timeStamp });
  expect([turn(-100, 0), turn(-100, 400), turn(120, 800), turn(3, 1200, 1)]).toEqual([1, 1, -1, -1]);
});

test("a trackpad that tells one pinch as many small turns does not rush through the levels", () => {
  const wheel = new Wheel();
  const steps = Array.from({ length: 30 }, (_, index) => wheel.turn({ deltaY: -8, deltaMode: 0, timeStamp: index * 16 }));
  expect(steps.filter((step) => step === 1).length).toBeLessThanOrEqual(3);
  expect(steps[0]).toBe(0);
  // A rest forgets what was left over.
  expect(wheel.turn({ deltaY: -49, deltaMode: 0, timeStamp: 2000 })).toBe(0);
});
