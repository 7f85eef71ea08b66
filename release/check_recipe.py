"""Render the conda-forge recipe for each platform with rattler-build, which refuses unknown entries.

`python release/check_recipe.py release/recipe.yaml`
"""

import sys

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64")
VARIANTS = {"python": ["3.11", "3.14"], "m2w64_c_stdlib": ["m2w64-sysroot"], "c_stdlib": ["sysroot"]}


def main(path: str) -> None:
    """Print the packages that the recipe builds."""
    recipe = Stage0Recipe.from_file(path)
    for platform in PLATFORMS:
        settings = RenderConfig(platform=PlatformConfig(target_platform=platform))
        for rendered in recipe.render(VariantConfig(VARIANTS), settings):
            package = rendered.recipe.package
            print(platform, package.name, package.version, rendered.variant.get("python"))


if __name__ == "__main__":
    main(*sys.argv[1:])
