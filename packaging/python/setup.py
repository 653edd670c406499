"""The tag of the wheel: any Python 3, and the platform of the library inside."""

import os

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class Library(Distribution):
    """The package holds machine code, though no extension module."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ["WHEEL_PLATFORM"]


setup(version=os.environ["WHEEL_VERSION"], distclass=Library, cmdclass={"bdist_wheel": Wheel})
