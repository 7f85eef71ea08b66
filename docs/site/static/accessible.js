// What axe misses in the theme: levels of headings, names of landmarks, and wide code that is reached by the keyboard.
"use strict";

addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll(".caption[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
  for (const block of document.querySelectorAll("pre, .table-wrapper")) {
    block.tabIndex = 0;
  }
});
