/** The view's icon: a box in space. */
export const icon = "M8 1.500 14 4.800v6.400L8 14.500 2 11.200V4.800ZM2 4.800 8 8.200l6-3.400M8 8.200v6.300";
