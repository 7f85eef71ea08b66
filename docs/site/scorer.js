// The order of what a search finds: pages for those who use tieproof come before reports and notes of its makers.
"use strict";

const WORTH = [
  [/^docs\/(ties|files|measures|compare|cluster)$/, 7],
  [/^docs\/(installation|tour|guides\/index)$/, 0],
  [/^docs\/guides\//, 6],
  [/^docs\/(refused|command_line)$/, -4],
  [/^docs\/reference\//, -20],
  [/^docs\//, 2],
  [/^(studies|benchmarks|src|CHANGELOG|CONTRIBUTING|README)/, -20],
];

// Sphinx reads this constant; other than here, its values are those of Sphinx.
var Scorer = {
  score: ([page, , , , score]) => {
    const worth = WORTH.find(([pages]) => pages.test(page));
    return score + (worth ? worth[1] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
